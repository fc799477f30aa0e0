"""Files of this machine, for clients: inside the workspace and granted folders, and nowhere else.

`files` has one method per command, and `operations` does what they ask for. `jail` checks each path while it
is walked; `grants` knows who may access what beyond the workspace; `workspace` is the folder of one session.
`reader`, `resolver`, `writer`, `edits`, `folders`, `transfer` and `removal` do the work, `locks` and `etags`
keep writers apart; `uris` parses names, `params` has the requests. `watches` tells of changes. `index`,
`snapshot` and `ignore_rules` serve completions.
May import: limits, storage.
"""
