"""The PostgreSQL store. Needs the library of the extra `agenthost[postgres]`.

`store` implements `SharedStorage`. `connections` has the event loop that the driver needs, and the
connections; `node` beats, and fences those that have died; `listening` hears `notices`, and `nodes` is what
nodes ask about each other; `opening` and `migrations` are for the start.
`documents` has the keys and the token.
`group` makes the one call that a commit is, `reader` reads, and `errors` explains what the driver raises.
`tables.sql` has the tables, and `functions.sql` what changes them.
"""
