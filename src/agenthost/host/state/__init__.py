"""Resources in memory: sessions, the root, terminals, large contents, and the feeds that show them.

`engine` wires the parts that need no agent. `session`, `root` and `terminal` are the resources;
`further_chat` and `task_session` are special sessions, and `records` makes the objects. `registry` finds
sessions, `memory` holds those in use. `additions`, `chat_moves` and `removals` change which there are;
`session_uris` says which URIs are free, `session_counts` how many sessions there are. `changesets` has the
files that they changed, `scrollback` bounds a terminal's content. `feed` is how a subscriber sees them,
`senders` where actions come from. `blobs` and `blob_access` are for large contents, `search` finds sessions,
`refusals` and `redaction` keep secrets out of the log. With several nodes, `ownership` says what this one
writes, `followed` has what others write, and `shares` what else they have in common.
May import: log, files, storage, access, limits.
"""
