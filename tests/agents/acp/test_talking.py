"""A turn with a program that speaks ACP."""

import sys
from pathlib import Path

from agenthost.agents.acp import AcpAgent
from talking import said

ECHO = [sys.executable, str(Path(__file__).with_name("echo.py"))]


def test_what_the_program_says_is_the_answer(tmp_path: Path) -> None:
    heard = said(tmp_path, AcpAgent("echo", ECHO), "Hello there")
    assert heard.text == "Hello there"
    assert heard.ending["type"] == "session/turnComplete"


def test_a_program_that_is_not_there_is_named_in_the_first_turn(tmp_path: Path) -> None:
    heard = said(tmp_path, AcpAgent("nobody", "no-such-program --acp"), "Hello")
    assert heard.ending["error"] == {
        "errorType": "agentUnavailable",
        "message": "there is no program 'no-such-program' to run; install it, or correct the command: "
        "no-such-program --acp",
    }
