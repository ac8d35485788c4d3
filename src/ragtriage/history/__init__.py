"""All runs of one folder as one document: what changed over time. Frames in, no file."""
