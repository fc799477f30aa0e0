"""Write what happens in groups, number and show it in order once it is durable, and fan it out.

May import: storage, access.
"""
