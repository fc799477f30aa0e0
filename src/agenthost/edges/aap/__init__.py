"""AAP: HTTP and Server-Sent Events, for an application that sends turns and brings its own tools.

The edge is one more client inside the process: it dispatches the same actions, and projects what happens into
the words of the protocol. Versions 1 and 2 are translations of 3.
"""
