"""AHP: JSON-RPC over any transport that carries whole messages, for clients that follow and steer sessions.

`negotiation` agrees on a version; `v0_1` is the first one, and later ones get packages next to it.
`websocket` and `stdio` carry messages as a `transport`; `wire_log` can record them. `peers` are all connected
clients; `errors` maps errors of the host to codes. Ids such as HR-R01 are rules, see docs/ahp.md.
"""
