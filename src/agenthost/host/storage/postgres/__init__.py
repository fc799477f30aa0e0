"""The PostgreSQL store. Needs the library of the extra `agenthost[postgres]`.

`store` implements `Storage`. `connections` has the event loop that the driver needs, and the connections;
`node` keeps others out, and takes over from one that has died; `opening` and `migrations` are for the start.
`documents` has the keys and the token.
`group` makes the one call that a commit is, `reader` reads, and `errors` explains what the driver raises.
`tables.sql` has the tables, and `functions.sql` what changes them.
"""
