"""Number what happens, write it in groups, and fan it out once it is durable.

May import: storage, access.
"""
