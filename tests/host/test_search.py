"""Search: sessions are found by what was said in them, in a real SQLite file."""

from pathlib import Path
from typing import Any

import pytest

from agenthost.errors import InvalidValue
from agenthost.host.state.engine import Engine
from agenthost.host.state.search import MAX_TEXT, Search
from agenthost.host.state.session import TranscriptEntry
from hosting import new_session, run, started


async def told(engine: Engine, name: str, *messages: Any, owner: str = "ann") -> None:
    """Make a session in which this was said."""
    said = [TranscriptEntry("t1", {"role": "user", "content": one}) for one in messages]
    await new_session(engine, f"demo:/{name}", name=name, owner=owner, messages=said)


async def found(engine: Engine, text: str, owner: str | None = "ann") -> list[str]:
    """Search, and return the names of what was found."""
    return [match.row.name for match in (await engine.search.find(owner, text)).matches]


def test_sessions_are_found_by_words_of_a_message_the_newest_first(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            await told(engine, "old", "The needle is here", "and hay is there")
            await told(engine, "none", "Nothing but hay")
            await told(engine, "new", [{"type": "text", "text": "A NEEDLE, here too"}])
            assert await found(engine, "needle HERE") == ["new", "old"]
            assert await found(engine, "needle hay") == []  # not in one message

    run(story)


@pytest.mark.parametrize(
    ("said", "sought"),
    [
        ("Die Größe", "GRÖ"),
        ("ПРИВЕТ, мир", "привет"),
        ('he said "quoted" and C:\\temp', 'said "quoted" c:\\TEMP'),
        ("100% of a_b!", "100% a_b!"),
        ("one\ttwo\nthree", "two three"),
        ("日本語の文", "本語"),
        ("a b c d e f g", "g f e d c b a"),
    ],
)
def test_words_are_found_in_any_script_and_with_any_sign(tmp_path: Path, said: str, sought: str) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            await told(engine, "it", said)
            await told(engine, "other", "1000 of axb?")
            assert await found(engine, sought) == ["it"]

    run(story)


def test_what_nobody_reads_of_a_message_is_not_searched(tmp_path: Path) -> None:
    blocks = [
        {"type": "image", "url": "data:image/png;base64,needle"},
        {"type": "tool_use", "toolCallId": "needle", "name": "needle", "input": {"needle": 1}},
        {"type": "thinking", "thinking": "Where is it?", "_private": {"needle": "needle"}},
    ]

    async def story() -> None:
        async with started(tmp_path) as engine:
            await told(engine, "one", blocks)
            for word in ("needle", "content", "role", "user", "thinking", "t1"):
                assert await found(engine, word) == []
            assert await found(engine, "where") == ["one"]

    run(story)


def test_each_owner_finds_only_their_own(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            await told(engine, "hers", "a needle", owner="ann")
            await told(engine, "his", "a needle", owner="bob")
            assert await found(engine, "needle", "ann") == ["hers"]
            assert await found(engine, "needle", "bob") == ["his"]
            assert await found(engine, "needle", None) == ["his", "hers"]

    run(story)


def test_an_excerpt_shows_the_first_word_with_some_text_around_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            await told(engine, "one", f"{'before ' * 50}the\n\nneedle {'after ' * 50}")
            (match,) = (await engine.search.find("ann", "NEEDLE")).matches
            assert "the needle after" in match.excerpt
            assert len(match.excerpt) < 160
            assert (match.excerpt[0], match.excerpt[-1]) == ("…", "…")

    run(story)


def test_a_search_is_bounded_and_says_so(tmp_path: Path) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            for number in range(5):
                await told(engine, f"n{number}", "needle")
            some = await Search(engine.storage, max_matches=2).find("ann", "needle")
            assert ([match.row.name for match in some.matches], some.is_complete) == (["n4", "n3"], False)
            assert not (await Search(engine.storage, seconds=0).find("ann", "needle")).is_complete
            assert (await engine.search.find("ann", "needle")).is_complete

    run(story)


@pytest.mark.parametrize("text", ["", " \n", "x" * (MAX_TEXT + 1)])
def test_a_text_without_words_or_too_long_is_refused(tmp_path: Path, text: str) -> None:
    async def story() -> None:
        async with started(tmp_path) as engine:
            with pytest.raises(InvalidValue):
                await engine.search.find("ann", text)

    run(story)
