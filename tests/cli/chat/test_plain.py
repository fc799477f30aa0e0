"""The chat without a terminal that can do much, and without any at all."""

import re
import signal
import subprocess
import sys

import pytest

from aap_servers import odd_server
from cli.chat.seeing import chat
from serving import TIMEOUT, environment, run_agenthost

SESSION = re.compile(r"session (\w+): go on with agenthost chat --session \1 --url http://\S+\n")


def piped(*words: str, typed: str = "", **over: str) -> tuple[int, str, str]:
    """Chat without a terminal; gives the exit code, the output, and the errors."""
    return run_agenthost("chat", *words, typed=typed, **over)


def test_on_a_dumb_terminal_everything_comes_line_by_line(server: str) -> None:
    with chat(server, "--agent", "demo", TERM="dumb", rows=50) as seen:
        seen.wait_prompt()
        seen.say("hello\\")
        seen.say("there")
        seen.wait_for("You said: hello\nthere")
        seen.wait_prompt()
        seen.say("/think twice")
        seen.wait_for("(thinks) I was asked to say: twice\n\ntwice")
        seen.say("/edit plain.txt some words")
        seen.wait_for("y/s/n/e?")
        seen.say("what?")
        seen.wait_for("y/s/n/e?", 2)
        seen.say("y")
        seen.wait_for("+ Wrote plain.txt")
        seen.wait_for("    +some words")
        seen.wait_prompt()
        seen.say('/call sleep {"seconds": 0.1}')
        seen.wait_for("y/s/n?")
        seen.say("s")
        seen.wait_for("… Sleep seconds: 0.1")
        seen.wait_prompt()
        seen.say("/ask")
        seen.wait_for("Name:")
        for typed, label in (
            ("Ann", "Price: [9.5]"),
            ("", "Count: [1]"),
            (":decline", "The questions were declined."),
        ):
            seen.say(typed)
            seen.wait_for(label)
        seen.wait_prompt()
        seen.say("/wait 60")
        seen.wait_for("....")
        seen.type("\x03")
        seen.wait_for("! stopped")
        seen.wait_prompt()
        seen.say(":info")
        seen.wait_for("- session ")
        seen.leave()
        assert b"\x1b" not in seen.raw


def test_ctrl_c_twice_leaves_a_dumb_terminal_too(server: str) -> None:
    with chat(server, "--agent", "demo", TERM="dumb") as seen:
        seen.wait_prompt()
        seen.type("\x03")
        seen.wait_for("Ctrl-C once more leaves")
        seen.type("\x03")
        assert seen.rest() == 130


@pytest.mark.long
def test_without_colours_there_are_none(server: str) -> None:
    with chat(server, "--agent", "demo", NO_COLOR="1") as seen:
        seen.wait_prompt()
        seen.say("/error")
        seen.wait_for("✗ this is the error")
        assert seen.style("✗ this is").fg == "default"
        assert seen.style("> /error").bold
        seen.leave()


def test_a_message_that_is_piped_in_gets_its_answer_alone(server: str) -> None:
    code, out, err = piped(server, "--agent", "demo", typed="two\nlines\n")
    assert (code, out) == (0, "You said: two\nlines\n")
    found = SESSION.fullmatch(err)
    assert found
    assert piped(server, "--session", found[1], typed="/history")[:2] == (0, "3\n")
    assert piped(server, "--agent", "demo", "--option", "style=loud", typed="x")[:2] == (0, "YOU SAID: X\n")


def test_nothing_is_allowed_where_nobody_can_be_asked_unless_everything_is(server: str) -> None:
    typed = '/call add {"a": 1, "b": 2}'
    code, out, err = piped(server, "--agent", "demo", typed=typed)
    denial = "add -> Tool call denied: there is nobody at the terminal who could allow it\n"
    assert (code, out) == (0, denial)
    assert "Add a: 1, b: 2: denied, as there is no terminal to ask at; --yes allows everything" in err
    assert piped(server, "--agent", "demo", "--yes", typed=typed)[:2] == (0, "add -> 3\n")
    assert (
        piped(server, "--agent", "showman", "--yes", typed="/call secret")[1]
        == "secret -> the number is 42\n"
    )
    code, out, err = piped(server, "--agent", "demo", typed="/ask")
    assert (code, out) == (0, "The questions were declined.\n")
    assert "nobody is there to answer: declined" in err


@pytest.mark.long
@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("/full", "the answer is cut off: the agent ran out of room"),
        ("/error", "this is the error that you asked for"),
    ],
)
def test_an_answer_that_is_not_whole_ends_with_one(server: str, word: str, sentence: str) -> None:
    code, out, err = piped(server, "--agent", "demo", typed=word)
    assert (code, out[-1]) == (1, "\n")
    assert err.startswith(f"agenthost: {sentence}\nsession ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "typed", "sentence"),
    [
        ([], " \n", "there is nothing to say: the standard input is empty"),
        (["localhost"], "hi", "expected HOST:PORT, or a URL such as"),
    ],
)
def test_what_makes_no_sense_ends_with_two(words: list[str], typed: str, sentence: str) -> None:
    code, out, err = piped(*words, typed=typed)
    assert (code, out) == (2, "")
    assert err.startswith(f"agenthost: {sentence}")


@pytest.mark.long
def test_several_agents_and_unknown_ones_are_told(server: str) -> None:
    assert piped(server, typed="hi")[::2] == (2, "agenthost: which agent? there are demo, guarded, showman\n")
    code, _, err = piped(server, "--agent", "nobody", typed="hi")
    assert code == 1
    assert err.startswith("agenthost: there is no agent")
    needed = "agenthost: the agent needs a token: --token RESOURCE=TOKEN, for https://api.example.org\n"
    assert piped(server, "--agent", "guarded", typed="hi")[::2] == (1, needed)
    words = ("--agent", "guarded", "--token", "https://api.example.org=secret")
    assert piped(server, *words, typed="hi")[1] == "0 attachments: hi\n"
    assert piped(server, "--session", "nobody", typed="hi")[::2] == (
        1,
        "agenthost: there is no session 'nobody'\n",
    )


def test_a_server_that_is_not_there_is_told_with_how_to_start_one() -> None:
    with odd_server() as server:
        pass
    address, port = server.url.replace("http", "ws"), server.url.rpartition(":")[2]
    for called, command in (({}, "agenthost"), ({"_AGENTHOST_CALLED_AS": "./run"}, "./run")):
        code, out, err = piped(server.url, typed="hi", **called)
        assert (code, out) == (1, "")
        assert err == (
            f"agenthost: no connection to {address}/ahp: Connection refused; "
            f"a server is started there with: {command} serve --port {port}\n"
        )


def test_a_closed_input_and_a_reader_who_leaves_end_without_a_complaint(server: str) -> None:
    run = f"{sys.executable} -m agenthost chat {server} --agent demo"
    for command, code, out in (
        (f"{run} <&-", 2, ""),
        (f"echo /stream 100000 | {run} | head -c 5", 0, "hello"),
    ):
        done = subprocess.run(
            ["sh", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
            env=environment(),
        )
        assert (done.returncode, done.stdout) == (code, out)
        assert "Traceback" not in done.stderr


def test_ctrl_c_stops_a_piped_turn(server: str) -> None:
    command = [sys.executable, "-m", "agenthost", "chat", server, "--agent", "demo"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("/wait 60")
        process.stdin.close()
        process.stdin = None
        assert process.stdout.read(1) == "."
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    found = SESSION.search(err)
    assert found
    assert piped(server, "--session", found[1], typed="next")[1] == "You said: next\n"


def test_the_command_line_is_quick_to_help() -> None:
    """Not measured in seconds: what takes its time is not loaded."""
    code = "import sys; from agenthost.cli import app; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"prompt_toolkit", "rich", "asyncio", "websockets"} & set(loaded.split())
