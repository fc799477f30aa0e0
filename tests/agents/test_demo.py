"""The words of the demo agent, over a real host: they are a contract."""

from pathlib import Path

import pytest

from agenthost.agents.demo import demo
from agenthost.agents.demo.commands import COMMANDS
from hosting import run
from talking import Talk, said, talking


@pytest.mark.parametrize(
    ("text", "deltas"),
    [
        ("hello", ["You ", "said: ", "hello"]),
        ("hello  big\nworld ", ["You ", "said: ", "hello  ", "big\n", "world "]),
        ("", ["You ", "said: "]),
        ("  ", ["You ", "said:   "]),
        ("grüße 🎈", ["You ", "said: ", "grüße ", "🎈"]),
    ],
)
def test_other_text_is_echoed_word_by_word(tmp_path: Path, text: str, deltas: list[str]) -> None:
    heard = said(tmp_path, demo, text)
    assert heard.deltas == deltas
    assert heard.text == f"You said: {text}"
    assert heard.ending["type"] == "session/turnComplete"


def test_help_is_a_markdown_list_of_all_commands(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, "/help")
    assert all(f"- `{command.usage}` " in heard.text for command in COMMANDS.values())
    assert "**Talking**" in heard.text
    assert len(heard.deltas) > len(COMMANDS)


def test_the_examples_in_the_help_start_with_their_commands() -> None:
    assert all(command.example.split()[0] == name for name, command in COMMANDS.items())


def test_think_thinks_then_speaks(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, "/think two words")
    assert heard.thoughts == "I was asked to say: two words"
    assert heard.deltas == ["two ", "words"]
    kinds = [action["part"]["kind"] for action in heard.of("responsePart")]
    assert kinds == ["reasoning", "markdown"]


@pytest.mark.parametrize("count", [0, 1, 2_000])
def test_stream_sends_that_many_deltas(tmp_path: Path, count: int) -> None:
    assert said(tmp_path, demo, f"/stream {count}").deltas == ["hello world "] * count


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("/stream many", "a whole number from 0 to 1000000, not `many`"),
        ("/stream", "a whole number from 0 to 1000000, but there is none"),
        ("/stream 1000001", "a whole number"),
        ("/stream -1", "a whole number"),
        ("/stream ٣", "a whole number"),
        ("/wait", "a number of seconds from 0 to 3600, but there is none"),
        ("/wait nan", "a number of seconds"),
        ("/wait inf", "a number of seconds"),
        ("/wait -1", "a number of seconds"),
        ("/think", "Some text is missing."),
        ("/title  ", "Some text is missing."),
        ("/edit", "the path of a file and the text"),
        ("/edit only-a-path", "the path of a file and the text"),
        ("/call", "The name of a tool is missing."),
        ("/call add {} &&", "The name of a tool is missing."),
        ('/call {"a": 1}', "The name of a tool is missing."),
        ('/call add {"a": 1', "The input of `add` is not JSON"),
        ("/call add nonsense", "The input of `add` is not JSON"),
        ('/call add {"a": NaN}', "The input of `add` is not JSON"),
        (f"/call add {'[' * 100_000}", "The input of `add` is not JSON"),
        (f'/call add {{"a": {"[" * 200}{"]" * 200}}}', "nested deeper"),
        ("/call add [1, 2]", "has to be a JSON object, not `[1, 2]`"),
        ("/call add {} clock", "comes `&&` or nothing, not `clock`"),
    ],
)
def test_a_wrong_argument_is_answered_with_the_right_usage(tmp_path: Path, text: str, part: str) -> None:
    heard = said(tmp_path, demo, text)
    assert part in heard.text
    assert heard.text.endswith(f"Use it like this: `{COMMANDS[text.split(maxsplit=1)[0]].example}`")
    assert heard.ending["type"] == "session/turnComplete"


def test_an_unknown_command_is_echoed_with_a_hint(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, "/steam 5")
    assert heard.text.startswith("You said: /steam 5\n\n")
    assert "Did you mean `/stream`?" in heard.text
    assert "`/help`" in heard.text


@pytest.mark.parametrize("text", ["/", "/ help", "/usr/bin/env python", "//", "/help/me", f"/{'x' * 10_000}"])
def test_text_that_merely_starts_with_a_slash_is_text(tmp_path: Path, text: str) -> None:
    assert said(tmp_path, demo, text).text == f"You said: {text}"


def test_a_command_counts_only_at_the_very_beginning(tmp_path: Path) -> None:
    assert said(tmp_path, demo, "try /help").text == "You said: try /help"


@pytest.mark.parametrize(
    ("greeting", "first"), [("Ahoy! ", "Ahoy! "), ("Ahoy!", "Ahoy! "), ("Ahoy!\n", "Ahoy!\n")]
)
def test_the_greeting_is_the_first_delta_with_a_space_if_it_has_none(
    tmp_path: Path, greeting: str, first: str
) -> None:
    heard = said(tmp_path, demo, "hi", options={"greeting": greeting})
    assert heard.deltas == [first, "You ", "said: ", "hi"]


def test_loud_puts_the_answer_in_capitals_but_not_the_thoughts(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, "/think two words", options={"style": "loud", "greeting": "Ahoy!"})
    assert heard.deltas == ["AHOY! ", "TWO ", "WORDS"]
    assert heard.thoughts == "I was asked to say: two words"


def test_the_steady_model_says_the_same(tmp_path: Path) -> None:
    heard = said(tmp_path, demo, "a b", model={"id": "steady", "config": {"pause": "short"}})
    assert heard.deltas == ["You ", "said: ", "a ", "b"]


def test_error_ends_the_turn_with_an_error_in_a_sentence(tmp_path: Path) -> None:
    error = said(tmp_path, demo, "/error").ending["error"]
    assert error == {"errorType": "demoError", "message": "this is the error that you asked for"}


@pytest.mark.parametrize(("word", "reason"), [("/refuse", "refusal"), ("/full", "max_tokens")])
def test_refuse_and_full_end_the_turn_with_their_stop_reasons(tmp_path: Path, word: str, reason: str) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            turn_id = await talk.send(word)
            heard = await talk.finish()
            assert heard.ending["type"] == "session/turnComplete"
            assert heard.text
            assert talk.session.private["stops"] == {turn_id: reason}

    run(story)


def test_history_counts_what_the_model_would_see_with_the_current_message(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host, tools={"add": True})
            assert (await talk.say("/history")).text == "1"
            assert (await talk.say("hello")).text == "You said: hello"
            assert (await talk.say("/history")).text == "5"
            await talk.say('/call add {"a": 1, "b": 2}')  # user, assistant, tool, assistant
            assert (await talk.say("/history")).text == "11"

    run(story)


def test_the_forgetful_model_is_given_less_of_a_long_history(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host, model={"id": "forgetful"})
            for _ in range(6):
                await talk.say("word " * 400)
            assert 0 < int((await talk.say("/history")).text) < 13

    run(story)


HTTP = {"type": "resource", "label": "a", "uri": "https://example.org/a.png", "contentType": "image/png"}
DATA = {"type": "embeddedResource", "label": "b", "data": "iVBORw0KGgo=", "contentType": "image/png"}
NOTE = {"type": "embeddedResource", "label": "c", "data": "aGVsbG8=", "contentType": "text/plain"}


@pytest.mark.parametrize(
    ("attachments", "answer"),
    [
        ([], "0 images"),
        ([NOTE], "0 images"),
        ([HTTP], "1 image: 1 http"),
        ([HTTP, NOTE, DATA], "2 images: 1 http, 1 data"),
        ([DATA, DATA], "2 images: 2 data"),
    ],
)
def test_image_says_how_many_images_came_and_of_what_kind(
    tmp_path: Path, attachments: list[object], answer: str
) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            assert (await talk.say("/image", attachments)).text == answer

    run(story)


def test_title_gives_the_session_a_title(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, demo) as host:
            talk = await Talk.begin(host)
            assert (await talk.say("/title  My  session ")).text == "The title is now: My session"
            assert talk.state["summary"]["title"] == "My session"

    run(story)
