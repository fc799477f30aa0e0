"""The running host: sessions, turns, tools, files and processes. The only part with tasks and clocks.

`host` is the host as its owner opens it, `client` the one way in for everybody else, with `client_files` and
`owner_view`. `parts` puts the packages together. `lifecycle` creates, loads and removes sessions;
`delegation` and `task_limits` are for tasks that agents give to each other. `limits` and `counters` are what
their names say, `offline` is for a store that no host has open. Each package says which others it may import.
"""
