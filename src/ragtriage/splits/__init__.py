"""What two splits of one set share: families, questions, answers. Which files there are is not."""
