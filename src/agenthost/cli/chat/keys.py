"""The keys of the screen, beside those that everybody knows from their shell."""

from typing import TYPE_CHECKING

from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition, shift_selection_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from agenthost.cli.chat.screen import Screen

__all__ = ["bindings_of"]


def bindings_of(screen: "Screen") -> KeyBindings:
    """Bind keys to what the screen does."""
    keys = KeyBindings()
    _bind_lines(keys, screen)
    _bind_ends(keys, screen)

    @keys.add(Keys.Any, filter=Condition(lambda: screen.takes_keys))
    def _(event: KeyPressEvent) -> None:
        if not screen.press(event.data):
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


def _bind_lines(keys: KeyBindings, screen: "Screen") -> None:
    @keys.add("enter")
    @keys.add("c-j")  # how Enter arrives that was typed before we listened
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        proposals = buffer.complete_state
        if proposals is not None and len(proposals.completions) > 1 and proposals.current_completion:
            buffer.complete_state = None  # one of them is taken; the only one was taken by Tab
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.cancel_completion()
            screen.accept()

    @keys.add(Keys.BracketedPaste, filter=shift_selection_mode)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.cut_selection()
        event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    @keys.add("escape", "enter")
    @keys.add("escape", "c-j")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")


def _bind_ends(keys: KeyBindings, screen: "Screen") -> None:
    @keys.add("c-c")
    def _(_event: KeyPressEvent) -> None:
        screen.interrupt()

    @keys.add("c-d", filter=Condition(lambda: not get_app().current_buffer.text))
    def _(_event: KeyPressEvent) -> None:
        screen.leave()
