"""What authors of agents and tools declare, and what they are given.

May import: state, terminals, sandbox, files, storage.
"""
