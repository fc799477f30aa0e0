"""Logs: lines for people or JSON lines for machines, with secrets masked. Knows no part of the host.

Everything is logged with the standard library, under `agenthost.*`. Code should never log a secret, or what
people say: masking is the last line of defence, not the first.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

__all__ = ["MASK", "hide", "hide_client_secret", "masked", "set_up"]

log = logging.getLogger("agenthost.logs")

MASK = "***"

MIN_SECRET = 8
"""Secrets shorter than this are not masked: they may be part of any word."""

OUR_LOGGERS = ("agenthost", "uvicorn", "asyncio")
"""Loggers that we always show. We show all others too, unless the program set up its own logging."""

_TOKENS = re.compile(r"(?i)(\bbearer\s+|\btkn=)[^\s&\"',;]+")
_KEYS = re.compile(r"(?i)(ah_[0-9a-f]{12}_)[0-9a-f]+")
"""API keys. Their first part is an id, not a secret."""

_COLOURS = {logging.WARNING: "33", logging.ERROR: "31", logging.CRITICAL: "31;1", logging.DEBUG: "2"}
_PLAIN = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "color_message"}
"""The attributes that every record has; all others were passed as `extra`."""

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127) if chr(code) not in "\t\n"} | {10: "\\n"}
"""Escapes, so that logged text can neither forge a line nor control the terminal."""

MAX_CLIENT_SECRETS = 10_000
MAX_CLIENT_CHARACTERS = 4 * 1024 * 1024
"""How many secrets of sessions and clients are masked, and their length together. The newest count."""

MAX_CLIENT_SECRET = 64 * 1024
"""Of a longer secret of a client, only this many characters are masked."""

_secrets: set[str] = set()
_short: set[str] = set()
_client_secrets: dict[str, None] = {}  # the newest at the end
_client_characters = 0
_hidden: list[str] | None = []  # all of them, longest first; None if it has to be built again


def hide(secret: str) -> None:
    """Mask a secret in everything that is logged from now on.

    A secret shorter than `MIN_SECRET` is not masked, and a warning says so once: as it may be part of any
    word, masking it would spoil the log and give the secret away.
    """
    global _hidden  # noqa: PLW0603 - logging is global, too
    if len(secret) >= MIN_SECRET:
        _secrets.add(secret)
        _hidden = None
    elif secret and secret not in _short:
        _short.add(secret)
        log.warning(
            "a key or secret has fewer than %d characters: too short to be masked in this log", MIN_SECRET
        )


def hide_client_secret(secret: str) -> None:
    """Mask a secret of a session or a client. When there are too many, the oldest are forgotten.

    There is no warning for a short one: a client could send any number of them.
    """
    global _hidden, _client_characters  # noqa: PLW0603 - see `hide`
    secret = secret[:MAX_CLIENT_SECRET]
    if len(secret) < MIN_SECRET:
        return
    if secret in _client_secrets:
        _client_secrets[secret] = _client_secrets.pop(secret)
        return
    _client_secrets[secret] = None
    _client_characters += len(secret)
    while len(_client_secrets) > MAX_CLIENT_SECRETS or _client_characters > MAX_CLIENT_CHARACTERS:
        oldest = next(iter(_client_secrets))
        del _client_secrets[oldest]
        _client_characters -= len(oldest)
    _hidden = None


def _all_hidden() -> list[str]:
    global _hidden  # noqa: PLW0603 - see `hide`
    if _hidden is None:
        # Longest first: a secret may begin with another one.
        _hidden = sorted({*_secrets, *list(_client_secrets)}, key=len, reverse=True)
    return _hidden


def masked(text: str) -> str:
    """Return the text with tokens and known secrets masked."""
    for secret in _all_hidden():
        if secret in text:
            text = text.replace(secret, MASK)
    return _TOKENS.sub(rf"\1{MASK}", _KEYS.sub(rf"\1{MASK}", text))


class HumanFormatter(logging.Formatter):
    """Short lines: time, level, logger, message."""

    def __init__(self, *, is_coloured: bool = False) -> None:
        super().__init__()
        self._is_coloured = is_coloured

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        level = f"{record.levelname.lower():<7}"
        colour = _COLOURS.get(record.levelno)
        if self._is_coloured and colour:
            level = f"\x1b[{colour}m{level}\x1b[0m"
        message = masked(record.getMessage().rstrip()).translate(_CONTROL)
        trace = _trace(self, record)
        return f"{time} {level} {record.name}: {message}" + (f"\n{trace}" if trace else "")


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, logger, message, the `extra` values, and the exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
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
    """Return the traceback. It is formatted here each time, as others may have cached it unmasked."""
    parts = [formatter.formatException(record.exc_info)] if record.exc_info and record.exc_info[0] else []
    if record.stack_info:
        parts.append(record.stack_info)
    return masked("\n".join(parts))


def _plain(value: object) -> Any:
    """Return a value as JSON, masked; what JSON does not have becomes text."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict):
        return {masked(str(key)): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return masked(str(value))


class Handler(logging.StreamHandler[TextIO]):
    """Writes to a stream. A stream that nobody reads any more is no error."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging calls
        """Report mistakes in log calls as usual; ignore a closed stream."""
        if not isinstance(sys.exc_info()[1], OSError | ValueError):
            super().handleError(record)


def is_not_slow_callback(record: logging.LogRecord) -> bool:
    """Tell whether a record of asyncio is anything but a warning about a slow callback."""
    return not str(record.msg).startswith("Executing ")


_CLIENT_MISTAKES = (
    "ASGI callable returned without completing handshake",
    "Invalid UTF-8 sequence received from client",
)


def is_not_client_mistake(record: logging.LogRecord) -> bool:
    """Tell whether a record of uvicorn is anything but an error that a WebSocket client caused.

    uvicorn logs a refused handshake, or text that is not UTF-8, as an error of the application. Any client
    could fill the log with such tracebacks.
    """
    return not str(record.msg).startswith(_CLIENT_MISTAKES)


def set_up(log_format: Literal["human", "json"], level: str, stream: TextIO | None = None) -> None:
    """Send logs to standard error, or to a stream. A second call replaces the first.

    A program that set up logging itself keeps that for everything but `OUR_LOGGERS`.
    """
    stream = stream or sys.stderr
    is_coloured = stream is not None and stream.isatty()
    handler = Handler(stream)
    handler.setFormatter(JsonFormatter() if log_format == "json" else HumanFormatter(is_coloured=is_coloured))
    root = logging.getLogger()
    for logger in (root, *map(logging.getLogger, OUR_LOGGERS)):
        logger.handlers = [one for one in logger.handlers if not isinstance(one, Handler)]
        if logger is not root or not root.handlers:
            logger.addHandler(handler)
        logger.propagate = logger is root
    logging.getLogger("agenthost").setLevel(level.upper())
    # At `info` uvicorn repeats what we log ourselves; at `debug` it logs the messages on the wire.
    quiet = logging.INFO if level == "debug" else logging.ERROR if level == "error" else logging.WARNING
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).setLevel(quiet)
    for name, wanted in (("asyncio", is_not_slow_callback), ("uvicorn.error", is_not_client_mistake)):
        if wanted not in logging.getLogger(name).filters:
            logging.getLogger(name).addFilter(wanted)
