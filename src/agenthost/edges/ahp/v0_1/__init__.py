"""AHP 0.1. `connection` reads and writes; `commands` and `files` are the commands, given a `client`.

`frames` encodes what the host sends on its own.
"""
