"""Working directories of a session or a chat (S17, S18, C17)."""

from typing import Any

from agenthost.core.reducers.records import R, put


def directory_set(state: R, action: Any) -> R:
    """S17, C17: add the directory, if it is not there."""
    directories: list[str] = state.get("workingDirectories", [])
    directory = action.get("directory")
    if directory is None or directory in directories:
        return state
    return put(state, workingDirectories=[*directories, directory])


def directory_removed(state: R, action: Any) -> R:
    """S17, C17: remove the directory; the list may stay empty."""
    directories: list[str] = state.get("workingDirectories", [])
    if action.get("directory") not in directories:
        return state
    left = [directory for directory in directories if directory != action.get("directory")]
    return put(state, workingDirectories=left)


def directory_replaced(state: R, action: Any) -> R:
    """S18: the replacement takes the directory's place, unless it stands earlier; it is there once."""
    directories: list[str] = state.get("workingDirectories", [])
    directory, replacement = action.get("directory"), action.get("replacement")
    if replacement in (None, directory) or directory not in directories:
        return state
    place = directories.index(directory)
    before = directories[:place]
    after = [other for other in directories[place + 1 :] if other != replacement]
    own = [] if replacement in before else [replacement]
    return put(state, workingDirectories=[*before, *own, *after])
