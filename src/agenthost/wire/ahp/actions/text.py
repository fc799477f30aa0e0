"""The actions that stream text, as structs, and the decoder that prefers them.

Nearly all that a session or a terminal says are these four, flat and made of strings. As structs they are
decoded and checked in one go, in a third of the time of the object that they stand for. They can be read
like that object too, so whoever is not in a hurry need not care. One that carries more than usual is
decoded as an object, so that nothing of it is lost.
"""

from typing import Any, TypeAlias

import msgspec

from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.ahp.common import URI
from agenthost.wire.json import Json
from agenthost.wire.shape import Shape


class TextAction(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag_field="type"):
    """What the four have in common: they read like the object on the wire."""

    def __getitem__(self, key: str) -> Json:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: str, default: Json = None) -> Json:
        """Give the value under a key, as of a dict."""
        if key == "type":
            return self.__struct_config__.tag
        return getattr(self, key) if key in self.__struct_fields__ else default


class SessionDelta(TextAction, tag="session/delta"):
    """The answer goes on: a `SessionDeltaAction`."""

    session: URI
    turnId: str
    partId: str
    content: str


class SessionReasoning(TextAction, tag="session/reasoning"):
    """The thinking goes on: a `SessionReasoningAction`."""

    session: URI
    turnId: str
    partId: str
    content: str


class SessionToolCallDelta(TextAction, tag="session/toolCallDelta"):
    """A call's input goes on, and nothing else: a `SessionToolCallDeltaAction`."""

    session: URI
    turnId: str
    toolCallId: str
    content: str


class TerminalData(TextAction, tag="terminal/data"):
    """Output: a `TerminalDataAction`."""

    terminal: URI
    data: str


Action: TypeAlias = StateAction | SessionDelta | SessionReasoning | SessionToolCallDelta | TerminalData
"""Any action, as it is decoded."""

ACTION: Shape[StateAction] = Shape(StateAction)

_TEXT: msgspec.json.Decoder[SessionDelta | SessionReasoning | SessionToolCallDelta | TerminalData] = (
    msgspec.json.Decoder(SessionDelta | SessionReasoning | SessionToolCallDelta | TerminalData)
)


def decode_action(data: bytes) -> Action:
    """Decode one action.

    Raises:
        NotJson: not a JSON value.
        InvalidValue: not an action, or one that lacks something.
    """
    try:
        return _TEXT.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ACTION.decode(data)


TEXTS: dict[str, type[TextAction]] = {
    "session/delta": SessionDelta,
    "session/reasoning": SessionReasoning,
    "session/toolCallDelta": SessionToolCallDelta,
    "terminal/data": TerminalData,
}


def as_text(action: Any) -> Any:
    """Give the struct for an object of one of the four types; what the object lacks is empty in it."""
    struct = TEXTS[action["type"]]
    return struct(*(action.get(key, "") for key in struct.__struct_fields__))
