"""Edges: where the outside comes in. They decode, make one call of the host, and encode.

`server` listens and stops, `app` is what every request goes through; the protocols are mounted there, and
never import each other. `console` has what people are told at the start.
"""
