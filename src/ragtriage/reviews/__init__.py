"""What people and judges said of cases: taken in, settled, and laid beside the cases."""
