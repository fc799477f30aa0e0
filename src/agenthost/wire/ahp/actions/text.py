"""The actions that stream text, as structs, and the decoder that prefers them.

Nearly all actions are of these four types, which are flat and made of strings. As structs they are decoded
and checked in one step, in a third of the time that a dict takes. They can be read like a dict too, so most
code need not care. An action with additional keys is decoded as a dict, so that nothing is lost.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from agenthost.wire.ahp.actions import StateAction
from agenthost.wire.json import Json
from agenthost.wire.shape import Shape


class TextAction(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag_field="type"):
    """The base of the four: it can be read like the object on the wire."""

    def __getitem__(self, key: str) -> Json:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: str, default: Json = None) -> Json:
        """Return the value under a key, like `dict.get`."""
        if key == "type":
            return self.__struct_config__.tag
        return getattr(self, key) if key in self.__struct_fields__ else default


class ChatDelta(TextAction, tag="chat/delta"):
    """More of the answer: a `ChatDeltaAction`."""

    turnId: str
    partId: str
    content: str


class ChatReasoning(TextAction, tag="chat/reasoning"):
    """More of the reasoning: a `ChatReasoningAction`."""

    turnId: str
    partId: str
    content: str


class ChatToolCallDelta(TextAction, tag="chat/toolCallDelta"):
    """More of a call's input, and nothing else: a `ChatToolCallDeltaAction`."""

    turnId: str
    toolCallId: str
    content: str


class TerminalData(TextAction, tag="terminal/data"):
    """Output: a `TerminalDataAction`."""

    data: str


ChatTextType: TypeAlias = Literal["chat/delta", "chat/reasoning", "chat/toolCallDelta"]
"""The types of those that stream text to a chat."""

Action: TypeAlias = StateAction | ChatDelta | ChatReasoning | ChatToolCallDelta | TerminalData
"""Any action, as decoded."""

ACTION: Shape[StateAction] = Shape(StateAction)

_TEXT: msgspec.json.Decoder[ChatDelta | ChatReasoning | ChatToolCallDelta | TerminalData] = (
    msgspec.json.Decoder(ChatDelta | ChatReasoning | ChatToolCallDelta | TerminalData)
)


def decode_action(data: bytes) -> Action:
    """Decode one action.

    Raises:
        NotJson: not a JSON value.
        InvalidValue: not an action, or a key is missing.
    """
    try:
        return _TEXT.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Another type, additional keys, or not valid at all: the shape accepts it or says what is wrong.
        return ACTION.decode(data)


TEXTS: dict[str, type[TextAction]] = {
    "chat/delta": ChatDelta,
    "chat/reasoning": ChatReasoning,
    "chat/toolCallDelta": ChatToolCallDelta,
    "terminal/data": TerminalData,
}


def as_text(action: Any) -> Any:
    """Return the struct for a dict of one of the four types; missing keys are empty strings."""
    struct = TEXTS[action["type"]]
    return struct(*(action.get(key, "") for key in struct.__struct_fields__))
