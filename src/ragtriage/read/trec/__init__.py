"""TREC's text files, qrels and runs: rows of columns to cases and traces, a topic each."""
