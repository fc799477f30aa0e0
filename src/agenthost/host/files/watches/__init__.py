"""Watches: report changes of files and folders to those who subscribed.

`registry` has the watches of all clients and their limits, `watch` is one of them. `tree` knows what was
there (`entries`) and finds out what has changed. `notifier` says where to look, with the events of
`inotify`; `marks` remembers that until the next comparison.
"""
