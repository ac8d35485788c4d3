"""What each table must look like: pandera models and the contracts over them, nothing else."""
