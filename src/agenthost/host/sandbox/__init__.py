"""Sandboxes: what shells and programs can see of this machine.

`bubblewrap` builds the command lines; `policy` decides whether there are sandboxes, and for whom;
`environment` keeps secrets of our own process from others. May import: access.
"""
