"""`agenthost ask`: its output, its questions at the terminal, and its exit codes."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aap_servers import META, START, answer, demo_server, odd_server, stream
from serving import TIMEOUT, Served, environment, run_agenthost, serving, wait_ready

SESSION = re.compile(r"session (\w+): continue with agenthost ask --session \1 --url http://\S+\n")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_server(tmp_path_factory.mktemp("server")) as url:
        yield f"{url}/aap"


def ask(*words: str, typed: str = "", **over: str) -> tuple[int, str, str]:
    """Ask without a terminal; return the exit code, standard output and standard error."""
    return run_agenthost("ask", *words, typed=typed, **over)


def test_only_the_answer_is_on_standard_output_and_the_session_on_standard_error(server: str) -> None:
    code, out, err = ask("hello", "--url", server)
    assert (code, out) == (0, "You said: hello\n")
    assert SESSION.fullmatch(err)


def test_a_session_can_be_continued(server: str) -> None:
    _, _, err = ask("hello", "--url", server, "--agent", "demo", "--option", "style=loud")
    found = SESSION.fullmatch(err)
    assert found
    assert ask("/history", "--url", server, "--session", found[1])[1] == "3\n"
    code, out, _ = ask("x=y", "--url", server, "--session", found[1], "--option", "greeting=a=b")
    assert (code, out) == (0, "A=B YOU SAID: X=Y\n")


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_is_spoken(server: str, version: int) -> None:
    code, out, err = ask("/think hello", "--url", f"{server}/v{version}")
    assert (code, out) == (0, "hello\n")
    assert SESSION.fullmatch(err)


def test_the_message_may_come_from_standard_input(server: str) -> None:
    assert ask("-", "--url", server, typed="two\nlines\n")[1] == "You said: two\nlines\n"


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("/refuse", "the agent refused to answer"),
        ("/full", "the answer was cut off: the agent reached its limit"),
        ("/error", "something went wrong while the agent answered; see the server's log"),
    ],
)
def test_an_incomplete_answer_exits_with_1(server: str, word: str, sentence: str) -> None:
    code, out, err = ask(word, "--url", server)
    assert code == 1
    assert out.endswith("\n")
    assert err.endswith(f"agenthost: {sentence}\n")


def test_trusted_tools_run_and_others_need_a_terminal(server: str) -> None:
    words = ('/call add {"a": 1, "b": 2}', "--url", server)
    assert ask(*words, "--trust", "add")[:2] == (0, "add -> 3\n")
    assert ask(*words, "--yes")[:2] == (0, "add -> 3\n")
    for tools in ([], ["--tool", "add"], ["--trust", "clock"]):
        code, out, err = ask(*words, *tools)
        assert (code, out) == (
            1,
            "add -> Tool call denied: there is nobody at the terminal who could allow it\n",
        )
        assert err.endswith(
            'agenthost: add {"a":1,"b":2}: not run, as there is no terminal to ask at; '
            "add --trust add, or --yes to allow every call\n"
        )


def test_tool_and_trust_limit_the_tools_to_those_they_name(server: str) -> None:
    words = ('/call add {"a": 1, "b": 2}', "--url", server, "--tool", "clock")
    assert ask(*words)[:2] == (0, "add -> there is no tool 'add' in this session\n")
    assert ask(*words, "--trust", "add")[:2] == (0, "add -> 3\n")


def test_a_session_keeps_its_tools_and_trust_adds_one(server: str) -> None:
    call = '/call add {"a": 1, "b": 2}'
    found = SESSION.fullmatch(ask("hi", "--url", server, "--trust", "clock")[2])
    assert found
    there = ("--url", server, "--session", found[1])
    assert ask(call, *there)[0] == 1
    assert ask(call, *there, "--trust", "add")[:2] == (0, "add -> 3\n")
    assert ask("/call clock", *there)[0] == 0
    assert ask(call, *there)[:2] == (0, "add -> 3\n")


def test_an_unknown_session_is_refused_with_how_to_list_them(server: str) -> None:
    hint = f"to list the sessions: agenthost sessions list --url {server}"
    told = f"agenthost: there is no session 'zzz'; {hint}\n"
    assert ask("hi", "--url", server, "--session", "zzz") == (1, "", told)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["hi", "--option", "style"], "--option: expected NAME=VALUE, found 'style'"),
        (["hi", "--option", "=x"], "--option: expected NAME=VALUE, found '=x'"),
        (["hi", "--url", "localhost"], "expected HOST:PORT, or a URL such as http://"),
        (["hi", "--key", "a b"], "a key is made of printable ASCII characters, without spaces"),
        (
            ["hi", "--agent", "a", "--session", "b"],
            "--agent cannot be used with --session: a session keeps its agent",
        ),
        (["-"], "the message is empty"),
        ([" "], "the message is empty"),
    ],
)
def test_a_command_that_makes_no_sense_exits_with_2(words: list[str], sentence: str) -> None:
    code, out, err = ask(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"agenthost: {sentence}")


def test_with_several_agents_one_must_be_named() -> None:
    two = [{"name": "a", "version": "1"}, {"name": "b", "version": "1"}]
    with odd_server({"version": 3, "agents": two}) as server:
        assert ask("hi", "--url", server.url) == (2, "", "agenthost: which agent? there are a, b\n")


def test_what_the_server_refuses_is_printed_and_creates_no_session(server: str) -> None:
    code, out, err = ask("hi", "--url", server, "--option", "style=rude")
    assert (code, out) == (1, "")
    assert err.startswith("agenthost: $.agent.options.style: expected one of 'plain', 'loud'")


def test_without_a_server_the_error_says_how_to_start_one() -> None:
    with odd_server() as server:
        pass
    code, out, err = ask("hi", "--url", server.url)
    assert (code, out) == (1, "")
    assert err == (
        f"agenthost: cannot connect to {server.url}: Connection refused; "
        f"start a server there with: agenthost serve --port {server.url.rpartition(':')[2]}\n"
    )


def test_a_key_comes_from_the_environment_and_the_error_for_a_wrong_one_says_so() -> None:
    refused = answer({"error": {"code": "unauthorized", "message": "who are you?"}}, "401 Unauthorized")
    with odd_server(get_meta=[refused]) as server:
        code, _, err = ask("hi", "--url", server.url, AGENTHOST_KEY="sesame")
        assert code == 1
        assert err == "agenthost: who are you?; pass a key with --key or AGENTHOST_KEY\n"
        assert server.requests[0][1]["authorization"] == "Bearer sesame"


def test_an_answer_that_breaks_off_is_shown_up_to_there() -> None:
    delta = {"event": "text_delta", "delta": "half an"}
    with odd_server(META, post_sessions_s1_turns=[stream(START, delta)]) as server:
        code, out, err = ask("hi", "--url", server.url)
        assert (code, out) == (1, "half an\n")
        assert err.startswith("session s1: continue with agenthost ask --session s1 ")
        assert err.splitlines()[1].startswith("agenthost: the answer ended before its turn_stop")


def test_ctrl_c_exits_cleanly_and_still_prints_the_session(server: str) -> None:
    command = [sys.executable, "-m", "agenthost", "ask", "/wait 60", "--url", server]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout
        assert process.stdout.read(1) == "."
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert SESSION.fullmatch(err)


def test_a_reader_that_stops_ends_it_quietly(server: str) -> None:
    command = f"{sys.executable} -m agenthost ask '/stream 100000' --url {server} | head -c 5"
    done = subprocess.run(
        ["sh", "-c", command],
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT,
        env=environment(),
    )
    assert done.stdout == "hello"
    assert SESSION.fullmatch(done.stderr)


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._master = master
        self._shown = ""

    def wait_for(self, words: str) -> None:
        """Wait until the terminal shows this."""
        while words not in self._shown:
            self._shown += self._read().decode()

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._master], [], [], TIMEOUT)
        assert ready, f"nothing more came after {self._shown!r}"
        return os.read(self._master, 4096)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def rest(self) -> str:
        """Return everything that was shown, once the command has ended."""
        while True:
            try:
                piece = self._read()
            except OSError:  # how Linux says that nobody is at the other end
                piece = b""
            if not piece:
                self.process.wait(TIMEOUT)
                return self._shown.replace("\r\n", "\n")
            self._shown += piece.decode()


@contextmanager
def at_terminal(*words: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "agenthost", "ask", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=environment(),
    )
    os.close(slave)
    with process:
        try:
            yield Terminal(master, process)
        finally:
            process.kill()
            os.close(master)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("y\n", "add -> 3"),
        ("n\n", "add -> Tool call denied: the user said no"),
        ("\n", "denied"),
        ("\x04", ""),
    ],
)
def test_whoever_sits_at_the_terminal_is_asked(server: str, typed: str, line: str) -> None:
    words = ('/call add {"a": 1, "b": 2}', "--tool", "add", "--url", server)
    with at_terminal(*words) as terminal:
        terminal.wait_for('Let the server run add {"a":1,"b":2}? [y/N] ')
        terminal.type(typed)
        shown = terminal.rest()
    assert line in shown
    assert terminal.process.returncode == 0


COMMANDER = """
from agenthost import Agent

def run(command: str, timeout: int = 1) -> str:
    "Run something."
    return f"ran {command}"

async def obey(turn):
    word, _, rest = turn.text.partition(" ")
    more = {"timeout": 5} if word == "slowly" else {}
    await turn.say(await turn.call("run", command=rest, **more))

agent = Agent("commander", obey, tools=[run])
"""


@pytest.fixture(scope="module")
def commander(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("commander")
    (folder / "agent.py").write_text(COMMANDER)
    with serving(folder / "agent.py", "--data", folder / "data") as served:
        yield served


@pytest.fixture(scope="module")
def commander_url(commander: Served) -> str:
    url = commander.wait_url()
    wait_ready(url)
    return url


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("now rm -r build", "Let the server run run?\n  $ rm -r build\n[y/N] "),
        ("now a\x1b[2J\nb", "Let the server run run?\n  $ a\\x1b[2J\n    b\n[y/N] "),
        ("slowly ls", 'Let the server run run {"timeout":5}?\n  $ ls\n[y/N] '),
    ],
)
def test_a_shell_command_is_shown_as_it_is_typed(commander_url: str, message: str, question: str) -> None:
    with at_terminal(message, "--url", commander_url) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type("y\n")
        shown = terminal.rest()
    assert question in shown
    assert f"ran {message.partition(' ')[2]}".replace("\x1b", "") in shown
    assert terminal.process.returncode == 0


def test_an_error_that_points_to_the_log_is_in_the_log(commander: Served, commander_url: str) -> None:
    with at_terminal("now ls", "--url", commander_url) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.type("n\n")
        shown = terminal.rest()
    assert "something went wrong while the agent answered; see the server's log" in shown
    line = commander.err.wait_for("turn of agent commander failed")
    assert line.endswith("failed: ToolError: Tool call denied: the user said no")
    assert " warning " in line


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_agents_of_the_readme_can_be_asked(tmp_path: Path) -> None:
    with serving(EXAMPLES / "timekeeper.py", "--data", tmp_path) as served:
        url = served.wait_url()
        wait_ready(url)
        with at_terminal("UTC", "--url", url) as terminal:
            terminal.wait_for('Let the server run clock {"zone":"UTC"}? [y/N] ')
            terminal.type("y\n")
            assert re.search(r"It is \d\d:\d\d\.\n", terminal.rest())
        assert terminal.process.returncode == 0
        code, out, err = ask("UTC", "--url", url)
        assert (code, out) == (1, "One moment. \n")
        assert err.endswith("add --trust clock, or --yes to allow every call\n")
        assert "log" not in err


def test_tools_that_the_server_does_not_list_are_asked_about_too(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    with serving(EXAMPLES / "pydantic_agent.py", "--data", tmp_path) as served:
        url = served.wait_url()
        wait_ready(url)
        with at_terminal("play", "--url", url) as terminal:
            terminal.wait_for('Let the server run pay {"amount":4}? [y/N] ')
            terminal.type("y\n")
            assert "You have paid 4.\n" in terminal.rest()
        assert terminal.process.returncode == 0
        code, out, err = ask("play", "--url", url)
        assert (code, out.splitlines()[0]) == (1, "Let us see. A 4. ")
        assert err.endswith("there is no terminal to ask at; add --yes to allow every call\n")
        assert ask("play", "--url", url, "--yes")[:2] == (0, "Let us see. A 4. You have paid 4.\n")


def test_ctrl_c_at_the_question_exits_cleanly(server: str) -> None:
    with at_terminal('/call add {"a": 1, "b": 2}', "--tool", "add", "--url", server) as terminal:
        terminal.wait_for("[y/N] ")
        terminal.process.send_signal(signal.SIGINT)
        shown = terminal.rest()
    assert terminal.process.returncode == 130
    assert "Traceback" not in shown


def test_thoughts_are_dimmed_and_no_text_moves_the_cursor(server: str) -> None:
    with at_terminal("/think a\x1b[31mb", "--url", server) as terminal:
        shown = terminal.rest()
    assert shown.startswith("\x1b[2mI was asked to say: a[31mb\x1b[0m\na[31mb\nsession ")
