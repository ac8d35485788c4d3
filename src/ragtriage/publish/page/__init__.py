"""The report of one run as one HTML page, from Python's own elements: no library to load."""
