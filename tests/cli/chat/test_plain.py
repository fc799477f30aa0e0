"""The chat at a plain terminal, and without one."""

import re
import signal
import subprocess
import sys

import pytest

from aap_servers import odd_server
from cli.chat.terminals import chat
from serving import TIMEOUT, environment, run_agenthost

SESSION = re.compile(r"session (\w+): continue with agenthost chat --session \1 --url http://\S+\n")


def piped(*words: str, typed: str = "", **over: str) -> tuple[int, str, str]:
    """Chat without a terminal. Return the exit code, the output and the errors."""
    return run_agenthost("chat", *words, typed=typed, **over)


def test_on_a_dumb_terminal_everything_is_printed_line_by_line(server: str) -> None:
    with chat(server, "--agent", "demo", TERM="dumb", rows=50) as terminal:
        terminal.wait_prompt()
        terminal.say("hello\\")
        terminal.say("there")
        terminal.wait_for("You said: hello\nthere")
        terminal.wait_prompt()
        terminal.say("/think twice")
        terminal.wait_for("(thinking) I was asked to say: twice\n\ntwice")
        terminal.say("/edit plain.txt some words")
        terminal.wait_for("y/s/n/e?")
        terminal.say("what?")
        terminal.wait_for("y/s/n/e?", 2)
        terminal.say("y")
        terminal.wait_for("+ Wrote plain.txt")
        terminal.wait_for("    +some words")
        terminal.wait_prompt()
        terminal.say('/call sleep {"seconds": 0.1}')
        terminal.wait_for("y/s/n?")
        terminal.say("s")
        terminal.wait_for("… Sleep seconds: 0.1")
        terminal.wait_prompt()
        terminal.say("/ask")
        terminal.wait_for("Name:")
        for typed, label in (
            ("Ann", "Price: [9.5]"),
            ("", "Count: [1]"),
            (":decline", "The questions were declined."),
        ):
            terminal.say(typed)
            terminal.wait_for(label)
        terminal.wait_prompt()
        terminal.say("/wait 60")
        terminal.wait_for("....")
        terminal.type("\x03")
        terminal.wait_for("! stopped")
        terminal.wait_prompt()
        terminal.say(":info")
        terminal.wait_for("- session ")
        terminal.leave()
        assert b"\x1b" not in terminal.raw


def test_pressing_ctrl_c_twice_leaves_a_dumb_terminal_too(server: str) -> None:
    with chat(server, "--agent", "demo", TERM="dumb") as terminal:
        terminal.wait_prompt()
        terminal.type("\x03")
        terminal.wait_for("press Ctrl-C again to leave")
        terminal.type("\x03")
        assert terminal.wait_exit() == 130


@pytest.mark.long
def test_no_color_is_respected(server: str) -> None:
    with chat(server, "--agent", "demo", NO_COLOR="1") as terminal:
        terminal.wait_prompt()
        terminal.say("/error")
        terminal.wait_for("✗ this is the error")
        assert terminal.style("✗ this is").fg == "default"
        assert terminal.style("> /error").bold
        terminal.leave()


def test_a_piped_message_prints_only_its_answer(server: str) -> None:
    code, out, err = piped(server, "--agent", "demo", typed="two\nlines\n")
    assert (code, out) == (0, "You said: two\nlines\n")
    found = SESSION.fullmatch(err)
    assert found
    assert piped(server, "--session", found[1], typed="/history")[:2] == (0, "3\n")
    assert piped(server, "--agent", "demo", "--option", "style=loud", typed="x")[:2] == (0, "YOU SAID: X\n")


def test_without_a_terminal_calls_are_denied_unless_yes_is_given(server: str) -> None:
    typed = '/call add {"a": 1, "b": 2}'
    code, out, err = piped(server, "--agent", "demo", typed=typed)
    denial = "add -> Tool call denied: there is nobody at the terminal who could allow it\n"
    assert (code, out) == (0, denial)
    assert "Add a: 1, b: 2: denied, as there is no terminal to ask at; add --yes to allow every call" in err
    assert piped(server, "--agent", "demo", "--yes", typed=typed)[:2] == (0, "add -> 3\n")
    assert (
        piped(server, "--agent", "showman", "--yes", typed="/call secret")[1]
        == "secret -> the number is 42\n"
    )
    code, out, err = piped(server, "--agent", "demo", typed="/ask")
    assert (code, out) == (0, "The questions were declined.\n")
    assert "the agent's questions were declined, as there is no terminal to ask at" in err


@pytest.mark.long
@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("/full", "the answer was cut off: the agent reached its limit"),
        ("/error", "this is the error that you asked for"),
    ],
)
def test_an_incomplete_answer_exits_with_1(server: str, word: str, sentence: str) -> None:
    code, out, err = piped(server, "--agent", "demo", typed=word)
    assert (code, out[-1]) == (1, "\n")
    assert err.startswith(f"agenthost: {sentence}\nsession ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "typed", "sentence"),
    [
        ([], " \n", "there is nothing to say: standard input is empty"),
        (["localhost"], "hi", "expected HOST:PORT, or a URL such as"),
    ],
)
def test_invalid_usage_exits_with_2(words: list[str], typed: str, sentence: str) -> None:
    code, out, err = piped(*words, typed=typed)
    assert (code, out) == (2, "")
    assert err.startswith(f"agenthost: {sentence}")


@pytest.mark.long
def test_an_ambiguous_or_unknown_agent_is_reported(server: str) -> None:
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


def test_an_unreachable_server_is_reported_with_the_command_to_start_one() -> None:
    with odd_server() as server:
        pass
    address, port = server.url.replace("http", "ws"), server.url.rpartition(":")[2]
    for called, command in (({}, "agenthost"), ({"_AGENTHOST_CALLED_AS": "./run"}, "./run")):
        code, out, err = piped(server.url, typed="hi", **called)
        assert (code, out) == (1, "")
        assert err == (
            f"agenthost: cannot connect to {address}/ahp: Connection refused; "
            f"start a server there with: {command} serve --port {port}\n"
        )


def test_a_closed_input_and_a_closed_pipe_leave_no_traceback(server: str) -> None:
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


def test_help_loads_no_slow_modules() -> None:
    """Looks at what is loaded; time is not measured."""
    code = "import sys; from agenthost.cli import app; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"prompt_toolkit", "rich", "asyncio", "websockets"} & set(loaded.split())
