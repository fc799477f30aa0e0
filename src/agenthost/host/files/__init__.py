"""Files of this machine, for clients: inside the workspace and granted folders, and nowhere else.

`files` is the door; `jail` decides at the moment of use; `grants` knows who may touch what beyond the
workspace. Neighbours: `uris`, `reading`, `writing`, `moving`; `index` and `ignoring` serve completions.
"""
