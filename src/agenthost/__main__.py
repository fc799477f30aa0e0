"""`python -m agenthost`: the command line."""

from agenthost.cli import main

main()
