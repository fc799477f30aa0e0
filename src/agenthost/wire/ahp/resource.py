"""Watched resources: what a watch is for, and what it reports."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI
from agenthost.wire.ahp.enums import ResourceChangeType


class GlobPatterns(TypedDict):
    """Patterns of paths."""

    items: list[str]


class ResourceWatchState(TypedDict):
    """The state of a watch: what it watches. Changes are not part of it."""

    root: URI
    recursive: bool
    includes: NotRequired[GlobPatterns]
    excludes: NotRequired[GlobPatterns]


class ResourceChange(TypedDict):
    """A change of a watched file or folder."""

    uri: URI
    type: ResourceChangeType


class ResourceChanges(TypedDict):
    """Changes that were seen together."""

    items: list[ResourceChange]
