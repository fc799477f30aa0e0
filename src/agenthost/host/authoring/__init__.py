"""The API for authors of agents and tools.

May import: state, terminals, sandbox, files, storage.
"""
