"""Measurements; not part of the test run."""
