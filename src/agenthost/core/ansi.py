"""Escape sequences of terminals (ECMA-48, known as ANSI): found, and taken out of text. Pure."""

import re

__all__ = ["strip_escapes"]

# CSI; the strings OSC, DCS, PM, APC and SOS, with or without their end; and the short sequences.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")


def strip_escapes(text: str) -> str:
    """Return text without escape sequences. Other control characters stay."""
    return _ESCAPE.sub("", text)
