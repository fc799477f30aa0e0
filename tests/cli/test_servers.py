"""How commands name the server they talk to: the same way for all of them."""

import re
from collections.abc import Iterator

import pytest

from aap_servers import demo_server, odd_server
from serving import run_agenthost


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server, and return its HOST:PORT."""
    with demo_server(tmp_path_factory.mktemp("server")) as url:
        yield url.removeprefix("http://")


@pytest.mark.parametrize("form", ["{}", "http://{}/", "ws://{}/ahp", "http://{}/aap"])
def test_every_command_accepts_every_form_of_address(server: str, form: str) -> None:
    url = form.format(server)
    assert run_agenthost("ask", "hello", "--url", url)[:2] == (0, "You said: hello\n")
    assert run_agenthost("chat", url, typed="hello")[:2] == (0, "You said: hello\n")
    code, out, err = run_agenthost("sessions", "list", "--url", url)
    assert (code, err) == (0, "")
    assert "hello" in out


def test_the_url_may_be_before_or_after_the_command_or_in_the_environment(server: str) -> None:
    wrong = "127.0.0.1:1"
    for words in (
        ("--url", server, "sessions", "list"),
        ("sessions", "--url", server, "list"),
        ("sessions", "list", "--url", server),
        ("--url", wrong, "sessions", "--url", wrong, "list", "--url", server),
    ):
        assert run_agenthost(*words)[::2] == (0, "")
    assert run_agenthost("sessions", "list", AGENTHOST_URL=server)[0] == 0
    for command in (["ask", "hello"], ["chat"]):
        assert run_agenthost("--url", server, *command, typed="hello")[:2] == (0, "You said: hello\n")
        assert run_agenthost(*command, "--url", server, typed="hello", AGENTHOST_URL=wrong)[0] == 0
        assert run_agenthost(*command, typed="hello", AGENTHOST_URL=f"ws://{server}")[0] == 0


def test_a_key_may_be_before_the_command_and_wins_over_the_environment() -> None:
    with odd_server() as server:
        run_agenthost("sessions", "--url", server.url, "--key", "sesame", "list", AGENTHOST_KEY="other")
        run_agenthost("sessions", "list", "--url", server.url, AGENTHOST_KEY="other")
        found = [headers["authorization"] for _, headers, _ in server.requests]
    assert (found[0], found[-1]) == ("Bearer sesame", "Bearer other")


def test_commands_that_talk_to_no_server_refuse_a_url(server: str) -> None:
    code, _, err = run_agenthost("--url", server, "keys", "list")
    assert code == 2
    assert "--url: keys does not talk to a server; only ask, chat, sessions do" in err


@pytest.mark.parametrize("words", [("ask", "hi"), ("chat",), ("sessions", "list")])
def test_a_wrong_address_is_refused_with_what_was_expected(words: tuple[str, ...]) -> None:
    expected = (
        "expected HOST:PORT, or a URL such as http://127.0.0.1:8642 or ws://127.0.0.1:8642/ahp, found 'x'"
    )
    assert run_agenthost(*words, "--url", "x", typed="hi")[::2] == (2, f"agenthost: {expected}\n")
    assert run_agenthost(*words, typed="hi", AGENTHOST_URL="x")[::2] == (
        2,
        f"agenthost: AGENTHOST_URL: {expected}\n",
    )


def test_without_a_server_the_hint_starts_one_there() -> None:
    with odd_server() as server:
        pass
    port = server.url.rpartition(":")[2]
    for words in (("ask", "hi"), ("chat",), ("sessions", "list")):
        err = run_agenthost(*words, "--url", server.url, typed="hi", _AGENTHOST_CALLED_AS="./run")[2]
        assert err.endswith(f"; start a server there with: ./run serve --port {port}\n")


def test_hints_name_the_server_only_if_the_command_would_not_find_it(server: str) -> None:
    for words in (("ask", "hello"), ("chat",)):
        err = run_agenthost(*words, "--url", server, typed="hello", _AGENTHOST_CALLED_AS="./run")[2]
        hint = rf"session (\w+): continue with ./run {words[0]} --session \1 --url http://{server}\n"
        assert re.fullmatch(hint, err)
        err = run_agenthost(*words, typed="hello", AGENTHOST_URL=server)[2]
        assert re.fullmatch(rf"session (\w+): continue with agenthost {words[0]} --session \1\n", err)
