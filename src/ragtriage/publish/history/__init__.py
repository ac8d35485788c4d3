"""The page over all runs."""
