"""Actions on annotations."""

from typing import Literal, NotRequired, TypedDict

from agenthost.wire.ahp.annotation import Annotation, AnnotationEntry, AnnotationOrigin
from agenthost.wire.ahp.common import URI, TextRange


class AnnotationsSetAction(TypedDict):
    """An annotation is new, or replaced."""

    type: Literal["annotations/set"]
    annotation: Annotation


class AnnotationsUpdatedAction(TypedDict):
    """An annotation moved, or was resolved or reopened."""

    type: Literal["annotations/updated"]
    annotationId: str
    origin: NotRequired[AnnotationOrigin]
    resource: NotRequired[URI]
    range: NotRequired[TextRange]
    resolved: NotRequired[bool]


class AnnotationsRemovedAction(TypedDict):
    """An annotation is gone."""

    type: Literal["annotations/removed"]
    annotationId: str


class AnnotationsEntrySetAction(TypedDict):
    """A remark is new, or has changed."""

    type: Literal["annotations/entrySet"]
    annotationId: str
    entry: AnnotationEntry


class AnnotationsEntryRemovedAction(TypedDict):
    """A remark is gone."""

    type: Literal["annotations/entryRemoved"]
    annotationId: str
    entryId: str
