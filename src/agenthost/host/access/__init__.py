"""Access to the host: keys, tokens, identities and sealed secrets.

`keys` and `token_file` hold what lets clients in; `caller` and `identity` say who they are; `vault` seals
secrets. May import: storage.
"""
