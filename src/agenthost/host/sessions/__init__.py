"""How sessions behave: dispatch, what is recorded, approvals, clients, titles.

May import: authoring, state, terminals, files, log, access.
"""
