"""Completing: what Tab proposes. Our own commands, and what the host knows of the agent's and of files."""

from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agenthost.client.ahp import AhpError, Session

__all__ = ["Completing"]


class Completing(Completer):
    """Proposes what could be typed in a session.

    Attributes:
        session: the one that is talked in; it changes.
        offered: what goes with the proposals so far, by their texts.
    """

    def __init__(self, commands: Mapping[str, str]) -> None:
        self.session: Session | None = None
        self.offered: dict[str, Any] = {}
        self._commands = commands

    def enter(self, session: Session) -> None:
        """Propose for this session from now on."""
        self.session = session
        self.offered.clear()

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Propose nothing: whoever asks can wait for `get_completions_async`."""
        return []

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        """Propose what fits before the cursor."""
        text = document.text_before_cursor
        if text.startswith(":") and " " not in text:
            for name, meaning in self._commands.items():
                if name.startswith(text[1:]):
                    yield Completion(f":{name} ", -len(text), display=f":{name}", display_meta=meaning)
            return
        for item in await self._found(document):
            yield self._proposal(item, document)

    async def _found(self, document: Document) -> list[Any]:
        if self.session is None or self.session.is_gone:
            return []
        try:
            return list(await self.session.completions(document.text, document.cursor_position))
        except AhpError:
            return []  # proposals are a courtesy

    def _proposal(self, item: Any, document: Document) -> Completion:
        text, attachment = item["insertText"], item["attachment"]
        self.offered[text] = attachment
        start = (
            _place(document.text, item.get("rangeStart"))
            if "rangeStart" in item
            else document.cursor_position
        )
        meta = attachment.get("_meta", {}).get("description", "")
        return Completion(text, min(0, start - document.cursor_position), display_meta=meta)


def _place(text: str, units: int) -> int:
    """Give the place in a text that is counted in UTF-16 on the wire."""
    return len(text.encode("utf-16-le")[: 2 * units].decode("utf-16-le", errors="ignore"))
