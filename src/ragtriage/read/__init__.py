"""Files to canonical frames, each row with its file and line. No metric and no rule of value here."""
