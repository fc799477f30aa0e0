"""Completions: what is proposed after `@` and `/`, and where it goes in the text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.agents.demo.commands import COMMANDS as DEMO_COMMANDS
from agenthost.errors import InvalidValue
from agenthost.host.files.files import Files
from agenthost.host.files.grants import FilePolicy, Grants
from agenthost.host.files.uris import uri_of
from agenthost.host.sessions.completions import Command, Completions, before_cursor, utf16_length
from agenthost.wire.ahp.legacy.commands.session import CompletionsResult
from agenthost.wire.shape import Shape
from hosting import run

COMMANDS = [Command(name.removeprefix("/"), demo.meaning) for name, demo in DEMO_COMMANDS.items()]
RESULT: Shape[CompletionsResult] = Shape(CompletionsResult)


@contextmanager
def opened(workspace: Path, *paths: str) -> Iterator[Completions]:
    for path in paths:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).touch()
    files = Files(Grants(workspace, FilePolicy(reading="allow")))
    completions = Completions(files)
    try:
        yield completions
    finally:
        completions.close()
        files.close()


async def asked(completions: Completions, text: str, offset: int | None = None, **over: Any) -> list[Any]:
    """Ask for what follows the text, or the part of it before the cursor."""
    end = utf16_length(text) if offset is None else offset
    params: Any = {"kind": "userMessage", "session": "demo:/one", "text": text, "offset": end}
    result = await completions.complete(None, params, commands=COMMANDS, **over)
    return list(RESULT.take(result)["items"])


def inserted(text: str, item: Any) -> str:
    """Do what a client does when an item is accepted."""
    units = text.encode("utf-16-le", "surrogatepass")
    new: bytes = item["insertText"].encode("utf-16-le")
    start: int = item["rangeStart"]
    return (units[: 2 * start] + new + units[2 * item["rangeEnd"] :]).decode("utf-16-le")


# Offsets


@given(st.text(), st.integers(0, 60))
def test_the_text_before_a_cursor_is_as_long_as_it_says_or_lacks_half_a_character(
    text: str, offset: int
) -> None:
    if offset > len(text.encode("utf-16-le", "surrogatepass")) // 2:
        with pytest.raises(InvalidValue):
            before_cursor(text, offset)
        return
    before = before_cursor(text, offset)
    assert text.startswith(before)
    assert offset - utf16_length(before) in (0, 1)
    if offset - utf16_length(before):
        assert ord(text[len(before)]) > 0xFFFF


@given(st.text(st.characters(exclude_categories=[])))
def test_half_characters_are_counted_too(text: str) -> None:
    assert utf16_length(text) == sum(2 if ord(char) > 0xFFFF else 1 for char in text)


@pytest.mark.parametrize("offset", [-1, 3])
def test_a_cursor_outside_of_the_text_is_refused(offset: int) -> None:
    with pytest.raises(InvalidValue, match=r"\$\.offset: expected a number from 0 to 2"):
        before_cursor("😀", offset)


# Files


def test_a_file_is_proposed_with_what_to_attach_also_after_emoji(tmp_path: Path) -> None:
    uri = uri_of(tmp_path.resolve() / "src/app.py")

    async def story() -> None:
        with opened(tmp_path, "src/app.py", "src/a b.png", "readme.md") as completions:
            text = "😀 look at @ap, please"
            (first, *_) = await asked(completions, text, 14)
            assert inserted(text, first) == "😀 look at @src/app.py, please"
            attachment = first["attachment"]
            assert attachment["type"] == "resource"
            assert attachment["uri"] == uri
            assert (attachment["label"], attachment["displayKind"]) == ("src/app.py", "document")
            image = (await asked(completions, "@png"))[0]
            assert image["attachment"]["displayKind"] == "image"
            assert image["attachment"]["contentType"] == "image/png"
            assert image["attachment"]["uri"].endswith("/src/a%20b.png")
            folder = (await asked(completions, "(@src"))[0]
            assert (folder["insertText"], folder["attachment"]["displayKind"]) == ("@src/", "directory")
            assert len(await asked(completions, "@")) == 4

    run(story)


@pytest.mark.parametrize("text", ["", "hello", "ann@src", "@src and", "see /he", " /he", "@nothing-like-it"])
def test_nothing_is_proposed_where_nothing_was_begun(tmp_path: Path, text: str) -> None:
    async def story() -> None:
        with opened(tmp_path, "src/app.py") as completions:
            assert await asked(completions, text) == []

    run(story)


def test_a_session_sees_the_folder_that_it_works_in(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "workspace", tmp_path / "outside"

    async def story() -> None:
        with opened(workspace, "src/app.py", ".gitignore", "src/app.log", "apple") as completions:
            (workspace / ".gitignore").write_text("*.log\n")
            outside.mkdir()
            (outside / "app.c").touch()
            inside = await asked(completions, "@app", folder=uri_of(workspace / "src"))
            assert [item["insertText"] for item in inside] == ["@app.py"]
            assert await asked(completions, "@app", folder=uri_of(outside)) == []
            assert await asked(completions, "@app", folder=uri_of(workspace / "gone")) == []
            grants = completions._files.grants
            await grants.request(None, {"uri": uri_of(outside)})
            (item,) = await asked(completions, "@app", folder=uri_of(outside))
            assert item["attachment"]["uri"] == uri_of(outside.resolve() / "app.c")
            grants.revoke(None)
            assert await asked(completions, "@app", folder=uri_of(outside)) == []

    run(story)


def test_a_new_file_is_proposed_after_the_next_look(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path, "old") as completions:
            assert len(await asked(completions, "@")) == 1
            (tmp_path / "new").touch()
            await completions.refresh(None)
            assert [item["insertText"] for item in await asked(completions, "@")] == ["@new", "@old"]

    run(story)


# Commands


def test_the_commands_of_the_agent_are_proposed_at_the_start_of_a_message(tmp_path: Path) -> None:
    async def story() -> None:
        with opened(tmp_path) as completions:
            everything = await asked(completions, "/")
            assert [item["insertText"] for item in everything] == list(DEMO_COMMANDS)
            names = [item["insertText"] for item in await asked(completions, "/h")]
            assert names[:2] == ["/help", "/history"]
            assert "/think" in names
            (item,) = await asked(completions, "/think about it", 4)
            assert inserted("/think about it", item) == "/thinknk about it"
            assert item["attachment"] == {
                "type": "simple",
                "label": "/think",
                "displayKind": "command",
                "_meta": {"command": "think", "description": DEMO_COMMANDS["/think"].meaning},
            }

    run(story)
