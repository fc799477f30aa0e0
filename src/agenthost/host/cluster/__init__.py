"""Several nodes that are one host: how they call each other, and take over from each other.

`peers` calls other nodes; `channels`, `handshake`, `link`, `websocket` and `carried_errors` are its parts.
`commands` has what clients want of sessions that other nodes write, `takeover` goes on with turns of nodes
that died, `foreign_list` tells of changes in the list of sessions, and `presence` knows the clients of
other nodes.
May import: access, sessions, state, log, storage, store_address.
"""
