"""A comparison on paper and on disk: one document, four formats, one folder."""
