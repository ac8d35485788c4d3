"""The worked dashboard: pick a run, a slice and a stage, and go down to one case's evidence path.

`queries` and `texts` are plain functions; `app` is the Streamlit script over them, and alone knows
Streamlit; `launch` starts it. Nothing here computes a metric.
"""
