"""AHP 0.1: a connection, and its commands."""
