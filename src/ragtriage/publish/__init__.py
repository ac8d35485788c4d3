"""Everything a run writes: Parquet, HTML, Markdown, JSON and the terminal; one atomic folder."""
