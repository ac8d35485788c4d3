"""The same steps under Prefect: each flow a few calls, top to bottom. Nothing is computed here.

The only place that imports Prefect, and imported late: the command line needs it for `--prefect`
alone.
"""
