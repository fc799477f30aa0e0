"""The screen: a terminal whose cursor moves. What is final scrolls away above, what changes stays below.

What changes is prompt_toolkit's to draw (`layout`), which paints only what differs. What is final is printed
above it in the same write, so that nothing flickers.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer, WordCompleter
from prompt_toolkit.history import History
from prompt_toolkit.input import create_input
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.selection import SelectionState

from agenthost.cli.chat.face import Ask, Asks, Key, Typed
from agenthost.cli.chat.keys import bindings_of
from agenthost.cli.chat.layout import STYLE, layout_of

__all__ = ["Screen"]

GUARD_SECONDS = 0.25
"""A key that comes sooner after a question appeared was meant for something else."""

OTHER_ROWS = 5
"""How many rows are left for what is not painted again and again."""


class _Output(Vt100_Output):
    """A terminal that can be held: all that is written meanwhile appears at once."""

    is_held = False

    @property
    def responds_to_cpr(self) -> bool:
        """Whether to ask where the cursor is: nothing needs to know, and the answer may come as if typed."""
        return False

    def erase_down(self) -> None:
        """Erase this line, then all below: what goes from the top at once, tmux keeps as scrolled away."""
        self.write_raw("\x1b[K\x1b7\x1b[B\x1b[J\x1b8")

    def flush(self) -> None:
        """Write what has gathered, unless it is held."""
        if not self.is_held:
            super().flush()


class Screen:
    """A `Face` with a cursor. It has to `run` while it is used."""

    def __init__(self, history: History, completer: Completer) -> None:
        self.interrupted: Callable[[], None] = lambda: None
        self.message = Buffer(multiline=True, history=history, completer=completer, tempfile_suffix=".md")
        self.answer = Buffer(multiline=True, completer=WordCompleter([]), tempfile_suffix=".md")
        self._typed = Typed()
        self._live: Sequence[str] = ()
        self.status = ""
        self._asks = Asks(self._asked_anew)
        self._shown: Ask | None = None
        self._kept: list[str] = []
        self._printed: Sequence[str] = ()
        self._output: _Output = _Output.from_pty(sys.stdout)  # type: ignore[assignment] # one of its own kind
        self._app: Application[None] = Application(
            layout=layout_of(self),
            key_bindings=bindings_of(self),
            output=self._output,
            input=create_input(sys.stdin),
            style=STYLE,
            erase_when_done=True,
        )
        self._app.ttimeoutlen = 0.05  # so long an Esc may be the beginning of something
        self._app.after_render += lambda _app: self._release()

    # Life

    async def run(self) -> None:
        """Draw, and take keys, until it is cancelled or the terminal is gone."""
        try:
            await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            pass
        finally:
            self._typed.end()

    def close(self) -> None:
        """Take away what is painted, and leave what was printed."""
        if self._app.is_running:
            with suppress(Exception):
                self._app.exit()

    # Printing

    @property
    def room(self) -> int:
        """How many rows can be painted again and again."""
        return max(1, self._output.get_size().rows - OTHER_ROWS - 1)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self._output.get_size().columns

    def show(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""
        text = "".join(f"{line}\r\n" for line in lines)
        if not text:
            return
        if not self._app.is_running:
            self._output.write_raw(text)
            self._output.flush()
        elif self.is_away:
            self._kept.append(text)
        else:
            self._output.is_held = True
            self._app.renderer.erase(leave_alternate_screen=False)
            self._output.write_raw(text)
            self._app.invalidate()

    def _release(self) -> None:
        if self._output.is_held:
            self._output.is_held = False
            self._output.flush()

    @property
    def is_away(self) -> bool:
        """Whether an editor has the terminal."""
        return self._app._running_in_terminal  # noqa: SLF001 - there is no other way to know

    def live(self, lines: Sequence[str], status: str) -> None:
        """Paint lines that change, and what goes on, in place of those before."""
        if (lines, status) != (self._live, self.status):
            self._live, self.status = lines, status
            self._app.invalidate()
        if self._kept and not self.is_away:
            kept, self._kept = "".join(self._kept), []
            self.show(kept.removesuffix("\r\n").split("\r\n"))

    # Asking

    async def read(self) -> str:
        """Wait for a message.

        Raises:
            EOFError: there will be none any more.
        """
        return await self._typed.next()

    async def key(self, about: Sequence[str], keys: Sequence[Key]) -> str:
        """Ask for one of some keys. They count while nothing is typed: else they are a part of that."""
        if len(about) > self.room:
            if about is not self._printed:  # asked again, it is still there
                self.show(about)
            self._printed, about = about, ()
        with self._asks.asking(Ask(about, keys, is_open=False)) as ask:
            await asyncio.sleep(GUARD_SECONDS)
            ask.is_open = True
            self._app.invalidate()
            return await ask.answer

    async def line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        words: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line. What was typed of a message stays, and comes back afterwards.

        A text that is only suggested is selected: what is typed or pasted takes its place.

        Raises:
            Back: no line is given.
        """
        asked = Ask(about, label=label, text=text, words=words, is_suggested=is_suggested)
        with self._asks.asking(asked) as ask:
            return await ask.answer

    @property
    def _line_asked(self) -> Ask | None:
        top = self._asks.top
        return top if top is not None and not top.keys else None

    def _asked_anew(self) -> None:
        """Give the line to what is asked for now; what was typed of another answer is kept for it."""
        if self._shown is not None:
            self._shown.text = self.answer.text
            self._shown.is_suggested = self.answer.selection_state is not None
        self._shown = self._line_asked
        self.answer.reset()
        if self._shown is not None:
            self.answer.completer = WordCompleter(list(self._shown.words), sentence=True, ignore_case=True)
            self._fill(self._shown)
        self._app.layout.focus(self.message if self._shown is None else self.answer)
        self._app.invalidate()

    def _fill(self, ask: Ask) -> None:
        """Put the text of a question where the answer is typed."""
        self.answer.insert_text(ask.text)
        if ask.is_suggested and ask.text:
            self.answer.selection_state = SelectionState(0)
            self.answer.selection_state.enter_shift_mode()  # as if somebody had selected it with Shift

    def put_back(self, text: str) -> None:
        """Put a text where messages are typed, before what is there."""
        typed = self.message.text
        self.message.text = f"{text}\n{typed}" if typed else text
        self.message.cursor_position = len(self.message.text)

    # What the keys do

    @property
    def takes_keys(self) -> bool:
        """Whether a key answers a question."""
        top = self._asks.top
        return top is not None and bool(top.keys) and top.is_open and not self.message.text

    def press(self, key: str) -> bool:
        """Take a key as an answer, if it is one."""
        return self._asks.top is not None and self._asks.top.give(key)

    def accept(self) -> None:
        """Take what was typed."""
        if (ask := self._line_asked) is not None:
            ask.give(self.answer.text)
        elif self.message.text.strip():
            self.message.append_to_history()
            text = self.message.text
            self.message.reset()
            self._typed.put(text)

    def interrupt(self) -> None:
        """Take back a line, clear what was typed while nothing goes on, or tell that Ctrl-C was pressed."""
        if (ask := self._line_asked) is not None:
            ask.take_back()
        elif self.message.text and not self.status:
            self.message.reset()
        else:
            self.interrupted()

    def leave(self) -> None:
        """Type no more messages."""
        self._typed.end()

    # What is drawn, from top to bottom

    @property
    def drawn(self) -> list[str]:
        """The lines that change, as far as there is room: the last ones."""
        return list(self._live)[-self.room :]

    @property
    def about(self) -> list[str]:
        """What is asked for."""
        return list(self._asks.top.about) if self._asks.top is not None else []

    @property
    def keys(self) -> str:
        """The keys that answer it, as many in a row as fit."""
        top = self._asks.top
        if top is None or not top.keys or not top.is_open:
            return ""
        if self.message.text:
            return "  send or clear what you are typing to answer with a key"
        rows: list[str] = []
        for word in (f"[{one.key}] {one.label}" for one in top.keys):
            if rows and len(rows[-1]) + 3 + len(word) <= self.width:
                rows[-1] += f"   {word}"
            else:
                rows.append(f"  {word}")
        return "\n".join(rows)

    @property
    def is_asked(self) -> bool:
        """Whether a line is asked for, in place of a message."""
        return self._line_asked is not None

    @property
    def label(self) -> str:
        """What stands before that line."""
        return self._line_asked.label if self._line_asked is not None else ""
