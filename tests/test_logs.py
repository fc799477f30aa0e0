"""Logs: the two formats, what is masked, and that a closed stream stops nobody."""

import io
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from agenthost import logs

log = logging.getLogger("agenthost.test")


def fail(text: str) -> None:
    raise ValueError(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def forget_secrets() -> None:
    logs._secrets.clear()
    logs._client_secrets.clear()
    logs._client_characters = 0
    logs._hidden = None


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """Leave logging as it was before the test."""
    loggers = [logging.getLogger(name) for name in ("", *logs.OUR_LOGGERS, "uvicorn.error")]
    forget_secrets()
    before = [(list(one.handlers), one.level, one.propagate, list(one.filters)) for one in loggers]
    yield
    for one, (handlers, level, propagate, filters) in zip(loggers, before, strict=True):
        one.handlers, one.propagate, one.filters = handlers, propagate, filters
        one.setLevel(level)
    forget_secrets()


@pytest.fixture
def people() -> io.StringIO:
    stream = io.StringIO()
    logs.set_up("human", "info", stream)
    return stream


@pytest.fixture
def machines() -> io.StringIO:
    stream = io.StringIO()
    logs.set_up("json", "info", stream)
    return stream


def test_a_line_for_people_has_time_level_name_and_message(people: io.StringIO) -> None:
    log.info("opened %d sessions", 3)
    assert re.fullmatch(r"\d\d:\d\d:\d\d info    agenthost\.test: opened 3 sessions\n", people.getvalue())


def test_only_a_terminal_gets_colours(people: io.StringIO) -> None:
    log.error("no")
    assert "\x1b" not in people.getvalue()
    terminal = Terminal()
    logs.set_up("human", "info", terminal)
    log.error("no")
    assert "\x1b[31merror  \x1b[0m" in terminal.getvalue()


def test_logged_text_can_neither_forge_a_line_nor_control_the_terminal(people: io.StringIO) -> None:
    log.info("path %s", "/x\n12:00:00 error\x1b[2J")
    assert people.getvalue().count("\n") == 1
    assert "/x\\n12:00:00 error\\x1b[2J" in people.getvalue()


def test_a_traceback_follows_its_line(people: io.StringIO) -> None:
    try:
        fail("boom")
    except ValueError:
        log.exception("failed")
    first, *rest = people.getvalue().splitlines()
    assert first.endswith("error   agenthost.test: failed")
    assert (rest[0], rest[-1]) == ("Traceback (most recent call last):", "ValueError: boom")


def test_a_line_for_machines_is_an_object_with_the_extra_values(machines: io.StringIO) -> None:
    try:
        fail("boom")
    except ValueError:
        log.exception("failed", extra={"session": "s:/1", "sizes": [1, None], "what": {"a": object}})
    line = json.loads(machines.getvalue())
    assert (line["level"], line["logger"], line["message"]) == ("error", "agenthost.test", "failed")
    assert (line["session"], line["sizes"]) == ("s:/1", [1, None])
    assert line["exception"].endswith("ValueError: boom")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"])
    assert set(line) == {"time", "level", "logger", "message", "session", "sizes", "what", "exception"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def-1", "Authorization: Bearer ***"),
        ("authorization: bearer  abc", "authorization: bearer  ***"),
        ("GET /ahp?tkn=abc&x=1", "GET /ahp?tkn=***&x=1"),
        (f"key ah_0123456789ab_{'f' * 64}.", "key ah_0123456789ab_***."),
        ("the key is pass-word-2!", "the key is ***!"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_tokens_and_known_secrets_are_masked(text: str, shown: str) -> None:
    logs.hide("pass-word")
    logs.hide("pass-word-2")
    logs.hide("")
    for log_format in ("human", "json"):
        stream = io.StringIO()
        logs.set_up(log_format, "info", stream)
        try:
            fail(text)
        except ValueError:
            log.exception("%s", text, extra={"given": [text]})
        assert stream.getvalue().count(shown) == (2 if log_format == "human" else 3)
        assert text == shown or text not in stream.getvalue()


def test_a_short_secret_is_not_masked_and_a_warning_says_so_once(people: io.StringIO) -> None:
    for secret in ("e", "seven77", "e"):
        logs.hide(secret)
    log.info("every letter is there: seven77")
    first, second, third = people.getvalue().splitlines()
    assert first.endswith("a key or secret has fewer than 8 characters: too short to be masked in this log")
    assert (" warning " in first, "seven77" in first + second) == (True, False)
    assert third.endswith("every letter is there: seven77")


def test_records_below_the_level_are_left_out(people: io.StringIO) -> None:
    log.debug("quiet")
    logs.set_up("human", "debug", people)
    log.debug("loud")
    assert [line.rpartition(" ")[2] for line in people.getvalue().splitlines()] == ["loud"]


def test_a_second_call_of_set_up_replaces_the_first(people: io.StringIO) -> None:
    second = io.StringIO()
    logs.set_up("human", "info", second)
    log.info("once")
    assert (people.getvalue(), second.getvalue().count("once")) == ("", 1)


def test_uvicorn_logs_the_same_way_and_never_messages_on_the_wire(people: io.StringIO) -> None:
    logs.set_up("human", "debug", people)
    logging.getLogger("uvicorn.error").warning("odd")
    assert "warning uvicorn.error: odd" in people.getvalue()
    assert not logging.getLogger("uvicorn.error").isEnabledFor(logging.DEBUG)


def test_warnings_about_slow_callbacks_are_left_out(people: io.StringIO) -> None:
    logging.getLogger("asyncio").warning("Executing %s took %.3f seconds", "<Handle>", 0.2)
    logging.getLogger("asyncio").warning("another thing")
    assert "another thing" in people.getvalue()
    assert "Executing" not in people.getvalue()


def test_a_program_keeps_the_logging_that_it_set_up() -> None:
    code = """
import logging, sys
logging.basicConfig(format="mine %(message)s", stream=sys.stdout)
from agenthost.logs import set_up
set_up("human", "info")
logging.getLogger("theirs").warning("one")
logging.getLogger("agenthost").warning("two")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "mine one\n"
    assert done.stderr.endswith("warning agenthost: two\n")


@pytest.mark.parametrize(
    "closing", ["import os; os.close(2)", "import sys; sys.stderr.close()", "sys.stderr = None"]
)
def test_a_stream_that_nobody_reads_does_not_stop_the_program(closing: str) -> None:
    code = f"import logging, sys; from agenthost.logs import set_up; set_up('human', 'info'); {closing}"
    code += "; logging.getLogger('agenthost').info('x'); print('well')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "well\n"


def test_secrets_of_clients_are_masked_up_to_a_number_and_short_ones_are_not(people: io.StringIO) -> None:
    logs.hide("kept-for-good")
    for place in range(logs.MAX_CLIENT_SECRETS + 1):
        logs.hide_client_secret(f"secret-{place:06}")
    logs.hide_client_secret("short")
    log.warning("kept-for-good secret-000000 secret-%06d secret-000001 short", logs.MAX_CLIENT_SECRETS)
    assert "*** secret-000000 *** *** short" in people.getvalue()
    assert "fewer than" not in people.getvalue()
    for letter in "abcde":
        logs.hide_client_secret(letter * 2 * logs.MAX_CLIENT_SECRET)
    assert logs._client_characters == sum(map(len, logs._client_secrets)) <= logs.MAX_CLIENT_CHARACTERS
