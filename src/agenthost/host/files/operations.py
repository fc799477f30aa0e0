"""The operations on files within a jail, one for each command. They block: `Files` runs them in threads."""

from base64 import b64decode

from agenthost.errors import InvalidValue, TooLarge
from agenthost.host.files import transfer
from agenthost.host.files.edits import Edit, edit_file
from agenthost.host.files.folders import check_git
from agenthost.host.files.jail import BOTH, READ, WRITE, Jail
from agenthost.host.files.params import Encoding, ListResult, ReadResult, ResolveResult, WriteParams
from agenthost.host.files.reader import encode_content, guess_content_type, list_folder, read_file
from agenthost.host.files.resolver import describe
from agenthost.host.files.transfer import Budget
from agenthost.host.files.uris import Target

__all__ = ["copy", "delete", "list_entries", "move", "read", "resolve", "write"]


def read(jail: Jail, target: Target, wish: Encoding | None, limit: int) -> ReadResult:
    """Read a file."""
    with jail.place(target, READ, follow=True) as place:
        data = read_file(place, limit)
        return encode_content(data, wish, guess_content_type(place.name))


def write(jail: Jail, target: Target, params: WriteParams, limit: int) -> None:
    """Write a file, or into it."""
    data = _decoded(params["data"], params["encoding"], limit)
    edit = Edit(
        mode=params.get("mode", "truncate"),
        position=_whole(params.get("position", 0)),
        create_only=params.get("createOnly", False),
        if_match=params.get("ifMatch"),
    )
    with jail.place(target, WRITE) as place:
        check_git(place)
        edit_file(place, data, edit, limit)


def _decoded(text: str, encoding: str, limit: int) -> bytes:
    """Return the bytes that a peer sent."""
    try:
        data = text.encode() if encoding == "utf-8" else b64decode(text, validate=True)
    except ValueError:  # `UnicodeEncodeError`, for a lone surrogate, is one too
        what = "whole characters" if encoding == "utf-8" else "base64"
        raise InvalidValue("$.data", what, "something else") from None
    if len(data) > limit:
        raise TooLarge("the data", limit)
    return data


def _whole(position: float) -> int:
    """Return a position as a whole number: in JSON, one may come with a fraction of zero."""
    is_whole = position == position // 1  # neither infinity nor what is not a number
    if not is_whole or position < 0:
        raise InvalidValue("$.position", "a number of bytes", repr(position))
    return int(position)


def list_entries(jail: Jail, target: Target, limit: int) -> ListResult:
    """List a folder."""
    with jail.place(target, READ, follow=True) as place:
        return {"entries": list_folder(jail, place, limit)}


def resolve(jail: Jail, target: Target, *, follow: bool) -> ResolveResult:
    """Describe what a URI leads to. Without `follow`, a link at the end is described itself."""
    with jail.place(target, READ, follow=True, keeps_last=not follow) as place:
        found = describe(place)
    return found if follow else {**found, "uri": target.uri}


def copy(jail: Jail, source: Target, destination: Target, budget: Budget, *, fail_if_exists: bool) -> None:
    """Copy a file or a folder."""
    with jail.place(source, READ, follow=True) as old, jail.place(destination, WRITE) as new:
        jail.check_tree(old, leaves=False)
        check_git(new)
        transfer.copy(old, new, budget, fail_if_exists=fail_if_exists)


def move(jail: Jail, source: Target, destination: Target, budget: Budget, *, fail_if_exists: bool) -> None:
    """Move a file or a folder. It can be read at its destination, so it must be readable at its source."""
    with jail.place(source, BOTH) as old, jail.place(destination, WRITE) as new:
        jail.check_tree(old, leaves=True)
        check_git(old)
        check_git(new)
        transfer.move(old, new, budget, fail_if_exists=fail_if_exists)


def delete(jail: Jail, target: Target, *, recursive: bool) -> None:
    """Delete a file or a folder."""
    with jail.place(target, WRITE) as place:
        jail.check_tree(place, leaves=True)
        check_git(place)
        transfer.delete(place, recursive=recursive)
