"""The key bindings of the screen, in addition to those of a shell."""

from typing import Protocol

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, shift_selection_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

__all__ = ["KeyHandler", "build_key_bindings"]


class KeyHandler(Protocol):
    """The parts of the screen that keys act on."""

    @property
    def takes_keys(self) -> bool:
        """Whether a single key answers the prompt."""

    def press(self, key: str) -> bool:
        """Answer the prompt with a key. Return whether it was one of the prompt's keys."""

    def accept(self) -> None:
        """Submit what was typed."""

    def interrupt(self) -> None:
        """Handle Ctrl-C."""

    def leave(self) -> None:
        """Handle Ctrl-D."""


def build_key_bindings(handler: KeyHandler) -> KeyBindings:
    """Bind keys to what the screen does."""
    keys = KeyBindings()
    _bind_input(keys, handler)
    _bind_exit(keys, handler)

    @keys.add(Keys.Any, filter=Condition(lambda: handler.takes_keys))
    def _(event: KeyPressEvent) -> None:
        if not handler.press(event.data):
            event.current_buffer.insert_text(event.data)

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None:
            buffer.complete_next()
        else:
            buffer.start_completion(insert_common_part=True)

    @keys.add("c-x", "c-e")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.open_in_editor()

    @keys.add("c-z")
    def _(_event: KeyPressEvent) -> None:
        get_app().suspend_to_background()

    return keys


def _bind_input(keys: KeyBindings, handler: KeyHandler) -> None:
    @keys.add("enter")
    @keys.add("c-j")  # an Enter that was typed before the terminal was in raw mode
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        menu = buffer.complete_state
        if menu is not None and len(menu.completions) > 1 and menu.current_completion:
            buffer.complete_state = None  # Enter picks from the menu; Tab has already picked an only one
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.cancel_completion()
            handler.accept()

    @keys.add(Keys.BracketedPaste, filter=shift_selection_mode)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cut_selection()
        event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")


def _bind_exit(keys: KeyBindings, handler: KeyHandler) -> None:
    @keys.add("c-c")
    def _(_event: KeyPressEvent) -> None:
        handler.interrupt()

    @keys.add("c-d", filter=Condition(lambda: not get_app().current_buffer.text))
    def _(_event: KeyPressEvent) -> None:
        handler.leave()
