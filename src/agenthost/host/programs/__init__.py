"""Programs that agents and tools run: found, started on pipes, and ended with everything they started.

`command` finds a program and its environment; `process` runs it; `output` logs what it writes. `keeper` is
the small process that starts it, and `keeper_process` its handle in the host; terminals use both.
May import: sandbox.
"""
