"""Two runs side by side: comparable at all, case by case, then in means. Pure steps, no files."""
