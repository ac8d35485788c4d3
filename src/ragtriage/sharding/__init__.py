"""A run whose shards are read, scored and written by other processes, wherever these are.

`jobs`: what a worker does with one shard. `run`: what is done before, between and after. Who
carries jobs to workers is not known here.
"""
