"""AHP: JSON-RPC over any transport that carries whole messages, for clients that watch and steer sessions.

`negotiation` says which versions are spoken, `v0_1` is the first of them; `websocket` and `stdio` carry the
messages. A later version is a package beside `v0_1`, over the same host.
"""
