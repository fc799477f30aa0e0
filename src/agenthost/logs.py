"""Logs: lines for people or JSON lines for machines, with secrets masked. Knows no part of the host.

Everything is logged with the standard library, under `agenthost.*`. Nobody here should log what people say
or a secret; that known secrets are masked is the last line of defence, not the first.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

__all__ = ["MASK", "hide", "hide_passing", "masked", "set_up"]

log = logging.getLogger("agenthost.logs")

MASK = "***"

MIN_SECRET = 8
"""How long a secret has to be to be masked by its value."""

OURS = ("agenthost", "uvicorn", "asyncio")
"""The loggers that are always ours to show; all others too, unless the program set up its own logging."""

_TOKENS = re.compile(r"(?i)(\bbearer\s+|\btkn=)[^\s&\"',;]+")
_KEYS = re.compile(r"(?i)(ah_[0-9a-f]{12}_)[0-9a-f]+")
"""API keys. The first part is no secret, and tells which."""

_COLOURS = {logging.WARNING: "33", logging.ERROR: "31", logging.CRITICAL: "31;1", logging.DEBUG: "2"}
_PLAIN = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}
"""What every record has; the rest of one was given as `extra`."""

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\t\n"} | {10: "\\n"}
"""So that nobody's text begins a line of its own or drives the terminal."""

MAX_PASSING = 10_000
MAX_PASSING_CHARACTERS = 4 * 1024 * 1024
"""How many secrets of sessions and clients are masked, the newest; and how long all of them may be."""

MAX_PASSING_LENGTH = 64 * 1024
"""Of a longer secret, so much of its beginning is masked."""

_secrets: set[str] = set()
_short: set[str] = set()
_passing: dict[str, None] = {}  # the newest at the end
_passing_characters = 0
_hidden: list[str] | None = []  # all of them, longest first; none while that has to be made


def hide(secret: str) -> None:
    """Mask this text wherever it would be logged from now on; a short one is not, which is logged once.

    It may be a part of any word: to mask that would tell where the secret is, and spoil the log.
    """
    global _hidden  # noqa: PLW0603 - one log for the process, as logging has it
    if len(secret) >= MIN_SECRET:
        _secrets.add(secret)
        _hidden = None
    elif secret and secret not in _short:
        _short.add(secret)
        log.warning(
            "a key or secret has fewer than %d characters: too short to be masked in this log", MIN_SECRET
        )


def hide_passing(secret: str) -> None:
    """Mask what a session or a client brought, as `hide` does; the oldest of these make room for it.

    Anybody may bring a short one, and as many as they like: so nothing is said of it.
    """
    global _hidden, _passing_characters  # noqa: PLW0603 - see `hide`
    secret = secret[:MAX_PASSING_LENGTH]
    if len(secret) < MIN_SECRET:
        return
    if secret in _passing:
        _passing[secret] = _passing.pop(secret)
        return
    _passing[secret] = None
    _passing_characters += len(secret)
    while len(_passing) > MAX_PASSING or _passing_characters > MAX_PASSING_CHARACTERS:
        oldest = next(iter(_passing))
        del _passing[oldest]
        _passing_characters -= len(oldest)
    _hidden = None


def _all_hidden() -> list[str]:
    global _hidden  # noqa: PLW0603 - see `hide`
    if _hidden is None:
        # Longest first: a secret may be the beginning of another.
        _hidden = sorted({*_secrets, *list(_passing)}, key=len, reverse=True)
    return _hidden


def masked(text: str) -> str:
    """Give the text with tokens and known secrets masked."""
    for secret in _all_hidden():
        if secret in text:
            text = text.replace(secret, MASK)
    return _TOKENS.sub(rf"\1{MASK}", _KEYS.sub(rf"\1{MASK}", text))


class PeopleFormatter(logging.Formatter):
    """Short lines: time, level, name, message."""

    def __init__(self, *, is_coloured: bool = False) -> None:
        super().__init__()
        self._is_coloured = is_coloured

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = f"{record.levelname.lower():<7}"
        colour = _COLOURS.get(record.levelno)
        if self._is_coloured and colour:
            level = f"\x1b[{colour}m{level}\x1b[0m"
        message = masked(record.getMessage().rstrip()).translate(_CONTROL)
        trace = _trace(self, record)
        return f"{time} {level} {record.name}: {message}" + (f"\n{trace}" if trace else "")


class JsonFormatter(logging.Formatter):
    """A JSON object a line: time, level, logger, message, what was given as `extra`, and the exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": masked(record.getMessage().rstrip()),
        }
        for key, value in vars(record).items():
            if key not in _PLAIN:
                line.setdefault(key, _plain(value))
        if trace := _trace(self, record):
            line["exception"] = trace
        return json.dumps(line, ensure_ascii=False)


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """Give the traceback as text. Others may have cached it unmasked, so it is masked here each time."""
    parts = [formatter.formatException(record.exc_info)] if record.exc_info and record.exc_info[0] else []
    if record.stack_info:
        parts.append(record.stack_info)
    return masked("\n".join(parts))


def _plain(value: object) -> Any:
    """Give a value as JSON has it, masked; what JSON has not, as text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {masked(str(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return masked(str(value))


class Handler(logging.StreamHandler[TextIO]):
    """Writes to a stream, and goes on when nobody reads it any more."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        """Show mistakes in log calls as ever; a closed stream is none."""
        if not isinstance(sys.exc_info()[1], OSError | ValueError):
            super().handleError(record)


def is_not_slow(record: logging.LogRecord) -> bool:
    """Tell whether a record of asyncio is anything but its complaint about a slow callback."""
    return not str(record.msg).startswith("Executing ")


_PEERS_MISTAKES = (
    "ASGI callable returned without completing handshake",
    "Invalid UTF-8 sequence received from client",
)


def is_no_refusal(record: logging.LogRecord) -> bool:
    """Tell whether a record of uvicorn is anything but an error about what a peer of a WebSocket did.

    It takes a WebSocket that was refused with an answer, or a text that is not UTF-8, for a mistake of ours,
    so anybody could fill the log with errors and tracebacks.
    """
    return not str(record.msg).startswith(_PEERS_MISTAKES)


def set_up(log_format: Literal["human", "json"], level: str, stream: TextIO | None = None) -> None:
    """Show logs on the standard error, or on this stream. A second call replaces the first.

    A program that set up logging by itself keeps that for everything but the loggers that are ours.
    """
    stream = stream or sys.stderr
    is_coloured = stream is not None and stream.isatty()
    handler = Handler(stream)
    handler.setFormatter(
        JsonFormatter() if log_format == "json" else PeopleFormatter(is_coloured=is_coloured)
    )
    root = logging.getLogger()
    for logger in (root, *map(logging.getLogger, OURS)):
        logger.handlers = [one for one in logger.handlers if not isinstance(one, Handler)]
        if logger is not root or not root.handlers:
            logger.addHandler(handler)
        logger.propagate = logger is root
    logging.getLogger("agenthost").setLevel(level.upper())
    # Of its own life uvicorn tells what we tell already. At `debug` it would write down what travels.
    quiet = logging.INFO if level == "debug" else logging.ERROR if level == "error" else logging.WARNING
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(quiet)
    for name, wanted in (("asyncio", is_not_slow), ("uvicorn.error", is_no_refusal)):
        if wanted not in logging.getLogger(name).filters:
            logging.getLogger(name).addFilter(wanted)
