"""AHP 1.0, and 0.9, which is the same but for a few actions and fields: `older` leaves those out.

`connection` is a connection, `commands`, `chats`, `changesets` and `files` are its methods, `frames` what the
host sends.
"""
