"""Commands: the params and results of every method."""
