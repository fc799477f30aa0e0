"""The form for the settings of a new session: always complete, with values that are found on demand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agenthost.agents.demo import demo
from agenthost.errors import AgentNotFound, InvalidValue, ResourceDenied, ToolError
from agenthost.host.authoring.agent import Agent
from agenthost.host.authoring.options import Option, Suggestion, SuggestQuery
from agenthost.host.authoring.turn import Turn
from agenthost.host.files.files import Files
from agenthost.host.files.grants import Grants
from agenthost.host.files.uris import uri_of
from agenthost.host.sessions.config_form import ConfigForm
from agenthost.host.sessions.session_options import check_options
from agenthost.wire.json import JsonObject
from hosting import run


async def answer(_turn: Turn) -> None:
    """Answer nothing."""


async def branches(query: SuggestQuery) -> Sequence[str | Suggestion]:
    if query.text == "fail":
        raise RuntimeError("the repository is broken")
    if query.text == "refuse":
        raise ToolError("there is no repository")
    where = query.folder.name if query.folder else "nowhere"
    known: list[str | Suggestion] = [Suggestion("main", "Main", f"in {where}"), "dev", query.values["style"]]
    return [one for one in known if query.text in (one if isinstance(one, str) else one.value)]


OPTIONS = (
    Option.select("style", ("plain", "loud"), title="Style"),
    Option("branch", default="main", suggest=branches, mutable=False),
    Option.secret("token"),
)


@contextmanager
def config_form(workspace: Path, *agents: Agent) -> Iterator[ConfigForm]:
    files = Files(Grants(workspace))
    try:
        yield ConfigForm({agent.name: agent for agent in agents}, files)
    finally:
        files.close()


def an_agent(**over: Any) -> Agent:
    return Agent("coder", answer, **{"options": OPTIONS, **over})


@pytest.mark.parametrize(
    ("config", "values"),
    [
        (None, {"style": "plain", "branch": "main"}),
        ({"style": "loud"}, {"style": "loud", "branch": "main"}),
        ({"branch": "anything"}, {"style": "plain", "branch": "anything"}),
        ({"style": "no such", "branch": 5, "other": "x", "token": "t"}, {"style": "plain", "branch": "main"}),
    ],
)
def test_a_form_is_complete_whatever_was_chosen_so_far(
    tmp_path: Path, config: JsonObject | None, values: JsonObject
) -> None:
    async def story() -> None:
        with config_form(tmp_path, an_agent()) as asked:
            params: Any = {"provider": "coder"} | ({} if config is None else {"config": config})
            answer = await asked.resolve(None, params)
            assert answer["values"] == values
            assert answer["schema"]["properties"] == {
                "style": {
                    "type": "string",
                    "title": "Style",
                    "default": "plain",
                    "sessionMutable": True,
                    "enum": ["plain", "loud"],
                },
                "branch": {
                    "type": "string",
                    "title": "branch",
                    "default": "main",
                    "sessionMutable": False,
                    "enumDynamic": True,
                },
            }
            check_options(an_agent(), answer["values"], "$.config")

    run(story)


def test_without_a_name_the_first_agent_is_meant(tmp_path: Path) -> None:
    async def story() -> None:
        with config_form(tmp_path, demo, an_agent()) as asked:
            assert "greeting" in (await asked.resolve(None, {}))["values"]
            with pytest.raises(AgentNotFound):
                await asked.resolve(None, {"provider": "nobody"})
        with config_form(tmp_path) as asked, pytest.raises(AgentNotFound):
            await asked.resolve(None, {})

    run(story)


def test_an_agent_without_options_has_an_empty_form(tmp_path: Path) -> None:
    async def story() -> None:
        with config_form(tmp_path, an_agent(options=())) as asked:
            answer = await asked.resolve(None, {})
            assert answer == {"schema": {"type": "object", "properties": {}}, "values": {}}

    run(story)


def test_values_are_found_for_what_was_typed_and_chosen(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()

    async def story() -> None:
        with config_form(tmp_path, an_agent()) as asked:
            params: Any = {
                "property": "branch",
                "config": {"style": "loud"},
                "workingDirectory": uri_of(tmp_path / "project"),
            }
            found = (await asked.complete(None, params))["items"]
            assert found == [
                {"value": "main", "label": "Main", "description": "in project"},
                {"value": "dev", "label": "dev"},
                {"value": "loud", "label": "loud"},
            ]
            typed = await asked.complete(None, {"property": "branch", "query": "de"})
            assert [item["value"] for item in typed["items"]] == ["dev"]
            fixed = await asked.complete(None, {"property": "style", "query": "LO"})
            assert fixed["items"] == [{"value": "loud", "label": "loud"}]

    run(story)


def test_a_failing_search_for_values_finds_none_unless_it_raises_a_tool_error(tmp_path: Path) -> None:
    async def story() -> None:
        with config_form(tmp_path, an_agent()) as asked:
            assert await asked.complete(None, {"property": "branch", "query": "fail"}) == {"items": []}
            with pytest.raises(ToolError):
                await asked.complete(None, {"property": "branch", "query": "refuse"})

    run(story)


@pytest.mark.parametrize("name", ["nothing", "token", ""])
def test_a_setting_that_is_not_shown_has_no_values(tmp_path: Path, name: str) -> None:
    async def story() -> None:
        known = r"\$\.property: expected one of 'style', 'branch'"
        with config_form(tmp_path, an_agent()) as asked, pytest.raises(InvalidValue, match=known):
            await asked.complete(None, {"property": name})

    run(story)


def test_a_session_cannot_be_made_to_work_outside(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()

    async def story() -> None:
        with config_form(tmp_path / "workspace", an_agent()) as asked:
            with pytest.raises(ResourceDenied):
                await asked.resolve(None, {"workingDirectory": uri_of(tmp_path)})
            with pytest.raises(ResourceDenied):
                await asked.complete(None, {"property": "branch", "workingDirectory": "file:///"})

    run(story)
