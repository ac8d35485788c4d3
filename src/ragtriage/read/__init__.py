"""Files to canonical frames, each row with its file and line. No rule of value here."""
