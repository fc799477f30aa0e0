"""Text from elsewhere, made safe to print. Pure."""

from agenthost.cli.terminal_text import strip_controls

__all__ = ["clean", "one_line"]


def clean(text: str) -> str:
    """Return the text without control characters, with tabs as spaces and every line ending as a newline."""
    return strip_controls(text.replace("\r\n", "\n").replace("\r", "\n")).expandtabs(4)


def one_line(text: str, max_length: int) -> str:
    """Return the text on one line, shortened if it is too long."""
    words = " ".join(clean(text).split())
    return words if len(words) <= max_length else words[: max(1, max_length - 1)] + "…"
