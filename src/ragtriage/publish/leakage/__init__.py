"""How what splits share is written and shown."""
