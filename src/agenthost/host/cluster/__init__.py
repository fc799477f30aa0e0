"""Several nodes that are one host: how they call each other.

May import: store_address.
"""
