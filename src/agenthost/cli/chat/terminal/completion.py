"""Tab completion: the chat's own commands, and what the host offers: the agent's commands and files."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agenthost.client.ahp import AhpError, Chat

__all__ = ["ChatCompleter"]


class ChatCompleter(Completer):
    """Completes what is typed in a chat.

    Attributes:
        chat: the current chat.
        attachments: the attachments of all completions offered so far, by the text they insert.
    """

    def __init__(self, commands: Mapping[str, str], words: Mapping[str, Iterable[str]]) -> None:
        self.chat: Chat | None = None
        self.attachments: dict[str, Any] = {}
        self._commands = commands
        self._words = words  # what may follow a command

    def enter(self, chat: Chat) -> None:
        """Complete for this chat from now on."""
        self.chat = chat
        self.attachments.clear()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return nothing: only `get_completions_async` is used."""
        return []

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Yield what fits before the cursor."""
        text = document.text_before_cursor
        if text.startswith(":") and " " not in text:
            for name, meaning in self._commands.items():
                if name.startswith(text[1:]):
                    yield Completion(f":{name} ", -len(text), display=f":{name}", display_meta=meaning)
            return
        command, _, typed = text.partition(" ")
        if command.startswith(":") and command[1:] in self._words:
            for word in self._words[command[1:]]:
                if word.startswith(typed):
                    yield Completion(f"{word} ", -len(typed), display=word)
            return
        for item in await self._host_items(document):
            yield self._completion(item, document)

    async def _host_items(self, document: Document) -> list[Any]:
        if self.chat is None or self.chat.is_gone:
            return []
        try:
            return list(await self.chat.completions(document.text, document.cursor_position))
        except AhpError:
            return []  # completions are optional

    def _completion(self, item: Any, document: Document) -> Completion:
        text, attachment = item["insertText"], item["attachment"]
        self.attachments[text] = attachment
        start = (
            _from_utf16(document.text, item["rangeStart"])
            if "rangeStart" in item
            else document.cursor_position
        )
        meta = attachment.get("_meta", {}).get("description", "")
        return Completion(text, min(0, start - document.cursor_position), display_meta=meta)


def _from_utf16(text: str, units: int) -> int:
    """Return the index in a text of a position that the wire counts in UTF-16 code units."""
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))
