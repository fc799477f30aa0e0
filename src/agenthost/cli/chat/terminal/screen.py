"""The screen: a terminal with a cursor. Final lines scroll up; what may still change stays at the bottom.

The bottom is drawn by prompt_toolkit (`layout`), which repaints only what differs. Final lines are printed
above it in the same write, so nothing flickers.
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

from agenthost.cli.chat.terminal.keys import build_key_bindings
from agenthost.cli.chat.terminal.layout import STYLE, build_layout
from agenthost.cli.chat.terminal.prompts import MessageQueue, Prompt, PromptStack
from agenthost.cli.chat.terminal.terminal import KeyChoice

__all__ = ["Screen"]

GUARD_SECONDS = 0.25
"""A key pressed sooner after a question appears was meant for something else."""

ESCAPE_SECONDS = 0.05
"""How long to wait after Esc for the rest of a key sequence."""

RESERVED_ROWS = 6
"""How many rows are kept free for the status, the prompt and the input line."""


class _Output(Vt100_Output):
    """A terminal whose output can be held back, so that several writes appear at once."""

    is_held = False

    @property
    def responds_to_cpr(self) -> bool:
        """Never ask for the cursor's position: nothing needs it, and the reply may arrive as typed text."""
        return False

    def erase_down(self) -> None:
        """Erase this line first, then all below: tmux moves what is erased at once into its scrollback."""
        self.write_raw("\x1b[K\x1b7\x1b[B\x1b[J\x1b8")

    def flush(self) -> None:
        """Write the buffered output, unless it is held back."""
        if not self.is_held:
            super().flush()


class Screen:
    """A `ChatTerminal` with a cursor. It only works while `run` is running."""

    def __init__(self, history: History, completer: Completer) -> None:
        self.on_interrupt: Callable[[], None] = lambda: None
        self.message = Buffer(multiline=True, history=history, completer=completer, tempfile_suffix=".md")
        self.answer = Buffer(multiline=True, completer=WordCompleter([]), tempfile_suffix=".md")
        self.status = ""
        self._messages = MessageQueue()
        self._live: Sequence[str] = ()
        self._prompts = PromptStack(self._prompt_changed)
        self._line_prompt: Prompt | None = None
        self._deferred: list[str] = []
        self._printed_about: Sequence[str] = ()
        self._output: _Output = _Output.from_pty(sys.stdout)  # type: ignore[assignment] # returns its own class
        self._app: Application[None] = Application(
            layout=build_layout(self),
            key_bindings=build_key_bindings(self),
            output=self._output,
            input=create_input(sys.stdin),
            style=STYLE,
            erase_when_done=True,
        )
        self._app.ttimeoutlen = ESCAPE_SECONDS
        self._app.after_render += lambda _app: self._release()

    # Lifecycle

    async def run(self) -> None:
        """Draw and read keys until it is cancelled or the terminal is closed."""
        try:
            await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        except EOFError:
            pass
        finally:
            self._messages.end()

    def close(self) -> None:
        """Erase what may still change, and leave the printed lines."""
        if self._app.is_running:
            with suppress(Exception):
                self._app.exit()

    # Output

    @property
    def max_live_rows(self) -> int:
        """How many rows can be repainted."""
        return max(1, self._output.get_size().rows - RESERVED_ROWS)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return self._output.get_size().columns

    def print_lines(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""
        text = "".join(f"{line}\r\n" for line in lines)
        if not text:
            return
        if not self._app.is_running:
            self._output.write_raw(text)
            self._output.flush()
        elif self._is_editor_open:
            self._deferred.append(text)
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
    def _is_editor_open(self) -> bool:
        return self._app._running_in_terminal  # noqa: SLF001 - there is no public way to know

    def update(self, lines: Sequence[str], status: str) -> None:
        """Replace the lines that may still change, and the status below them."""
        if (lines, status) != (self._live, self.status):
            self._live, self.status = lines, status
            self._app.invalidate()
        if self._deferred and not self._is_editor_open:
            deferred, self._deferred = "".join(self._deferred), []
            self.print_lines(deferred.removesuffix("\r\n").split("\r\n"))

    # Prompts

    async def read_message(self) -> str:
        """Wait for the next message.

        Raises:
            EOFError: the input has ended.
        """
        return await self._messages.next()

    async def ask_key(self, about: Sequence[str], keys: Sequence[KeyChoice]) -> str:
        """Ask for one of the keys. While a message is being typed, keys are part of it."""
        if len(about) > self.max_live_rows:
            if about is not self._printed_about:  # asked again: it is already above
                self.print_lines(about)
            self._printed_about, about = about, ()
        with self._prompts.open(Prompt(about, keys, is_open=False)) as prompt:
            await asyncio.sleep(GUARD_SECONDS)
            prompt.is_open = True
            self._app.invalidate()
            return await prompt.answer

    async def ask_line(
        self,
        label: str,
        text: str = "",
        *,
        about: Sequence[str] = (),
        completions: Sequence[str] = (),
        is_suggested: bool = False,
    ) -> str:
        """Ask for a line. A message that was being typed comes back afterwards.

        A suggested text is selected, so typing or pasting replaces it.

        Raises:
            InputCancelled: the user cancelled it.
        """
        prompt = Prompt(about, label=label, text=text, completions=completions, is_suggested=is_suggested)
        with self._prompts.open(prompt):
            return await prompt.answer

    @property
    def _current_line_prompt(self) -> Prompt | None:
        current = self._prompts.current
        return current if current is not None and not current.keys else None

    def _prompt_changed(self) -> None:
        """Save what was typed for the last prompt, and show the current one."""
        if self._line_prompt is not None:
            self._line_prompt.text = self.answer.text
            self._line_prompt.is_suggested = self.answer.selection_state is not None
        self._line_prompt = self._current_line_prompt
        self.answer.reset()
        if self._line_prompt is not None:
            words = list(self._line_prompt.completions)
            self.answer.completer = WordCompleter(words, sentence=True, ignore_case=True)
            self._fill_answer(self._line_prompt)
        self._app.layout.focus(self.message if self._line_prompt is None else self.answer)
        self._app.invalidate()

    def _fill_answer(self, prompt: Prompt) -> None:
        self.answer.insert_text(prompt.text)
        if prompt.is_suggested and prompt.text:
            self.answer.selection_state = SelectionState(0)
            self.answer.selection_state.enter_shift_mode()  # as if selected with Shift: typing replaces it

    def put_back(self, text: str) -> None:
        """Put a text into the input line, before what is already there."""
        typed = self.message.text
        self.message.text = f"{text}\n{typed}" if typed else text
        self.message.cursor_position = len(self.message.text)

    # Keys

    @property
    def takes_keys(self) -> bool:
        """Whether a single key answers the prompt."""
        current = self._prompts.current
        return current is not None and bool(current.keys) and current.is_open and not self.message.text

    def press(self, key: str) -> bool:
        """Answer the prompt with a key. Return whether it was one of the prompt's keys."""
        return self._prompts.current is not None and self._prompts.current.try_answer(key)

    def accept(self) -> None:
        """Submit what was typed."""
        if (prompt := self._current_line_prompt) is not None:
            prompt.try_answer(self.answer.text)
        elif self.message.text.strip():
            self.message.append_to_history()
            text = self.message.text
            self.message.reset()
            self._messages.put(text)

    def interrupt(self) -> None:
        """Cancel the line prompt, or clear the input line while nothing runs, or report Ctrl-C."""
        if (prompt := self._current_line_prompt) is not None:
            prompt.cancel()
        elif self.message.text and not self.status:
            self.message.reset()
        else:
            self.on_interrupt()

    def leave(self) -> None:
        """End the messages."""
        self._messages.end()

    # Contents, from top to bottom

    @property
    def live_lines(self) -> list[str]:
        """The last of the lines that may still change, as many as fit."""
        return list(self._live)[-self.max_live_rows :]

    @property
    def about(self) -> list[str]:
        """The lines above the prompt."""
        return list(self._prompts.current.about) if self._prompts.current is not None else []

    @property
    def key_hints(self) -> str:
        """The keys that answer the prompt, as many in a row as fit."""
        current = self._prompts.current
        if current is None or not current.keys or not current.is_open:
            return ""
        if self.message.text:
            return "  send or clear what you are typing to answer with a key"
        rows: list[str] = []
        for hint in (f"[{choice.key}] {choice.label}" for choice in current.keys):
            if rows and len(rows[-1]) + 3 + len(hint) <= self.width:
                rows[-1] += f"   {hint}"
            else:
                rows.append(f"  {hint}")
        return "\n".join(rows)

    @property
    def is_asking_line(self) -> bool:
        """Whether the prompt asks for a line."""
        return self._current_line_prompt is not None

    @property
    def label(self) -> str:
        """The label of that line."""
        return self._current_line_prompt.label if self._current_line_prompt is not None else ""
