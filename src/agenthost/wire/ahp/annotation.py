"""Annotations: remarks on files, of users and agents."""

from typing import NotRequired, TypedDict

from agenthost.wire.ahp.common import URI, Meta, StringOrMarkdown, TextRange


class AnnotationsSummary(TypedDict):
    """The channel of a session's annotations, and how many there are."""

    resource: URI
    annotationCount: int
    entryCount: int


class AnnotationOrigin(TypedDict):
    """Where an annotation comes from."""

    session: URI
    chat: NotRequired[URI]
    turnId: NotRequired[str]


class AnnotationEntry(TypedDict):
    """One remark of an annotation."""

    id: str
    text: StringOrMarkdown
    _meta: NotRequired[Meta]


class Annotation(TypedDict):
    """Remarks on a file, or on a range of it."""

    id: str
    origin: AnnotationOrigin
    resource: URI
    range: NotRequired[TextRange]
    resolved: bool
    entries: list[AnnotationEntry]
    _meta: NotRequired[Meta]


class AnnotationsState(TypedDict):
    """The annotations of a session, as their subscribers see them."""

    annotations: list[Annotation]
