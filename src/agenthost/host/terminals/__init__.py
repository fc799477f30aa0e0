"""Terminals of the host: real shells on ptys, as resources that clients subscribe to and act on.

`registry` has all of them; `terminal` is one; `process` runs its program on a pty. `flow_control` and
`scanner` read the output; `shells` makes bash and zsh report their commands, which `commands` tracks;
`command_runner` runs the commands of tools. What subscribers see is `state.terminal`.
May import: state, log, files, programs, sandbox, access.
"""
