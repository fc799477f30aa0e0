"""Watches: what changes in files and folders, told to whoever asked.

`registry` has the watches of all clients and their limits, `watch` is one of them. `tree` knows what was
there (`entries`) and finds out what has changed. `notifier` tells it where to look, with the events of
`inotify`; `marks` keeps that until it looks.
"""
