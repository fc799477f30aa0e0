"""Terminals of the host: real shells on ptys, as resources that clients subscribe to and act on.

`registry` has them all; `terminal` is one; `resource` is what subscribers see of it; `process` and `keeper`
run the program; `flow` and `scanner` read its output; `shells` makes bash and zsh tell of `commands`; and
`toolrun` runs the commands of tools.
"""
