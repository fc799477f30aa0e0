"""Edges: the interfaces of the host to the outside. They decode, make one call to the host, and encode.

`server` listens and stops, with `shutdown` and `watchdog`; `console` prints what people read at the start.
`http_protocol`, `websocket_protocol` and `connections` set limits on connections. Every request goes through
`app`, with `access`, `cors`, `rates`, `responses`, `health` and `metrics`. `aap`, `ahp` and
`page` are mounted there and never import each other.
"""
