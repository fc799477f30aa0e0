"""Real programs that speak ACP, gemini-cli and opencode, with a model service in place of their models.

They are slow to start, so one process of each serves all of these tests.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aap_talking import Speaker, permission, result
from acp_acting import Served, serving
from agenthost.agents.acp import AcpAgent
from agenthost.client.ahp import AhpClient, answer_text
from modelling import Service, model_service
from peering import peer
from turning import calls_in, transcript, until, until_call

pytestmark = pytest.mark.thorough

KINDS = ("gemini", "opencode")
SECONDS = 90

ALLOW_ONCE = {"gemini": "proceed_once", "opencode": "once"}


def writing(name: str) -> list[Any]:
    """Let the model write a file when it is told to, by the tools of both programs, and then say so."""
    gemini = {"file_path": name, "content": "one\ntwo\n"}
    opencode = {"filePath": name, "content": "one\ntwo\n"}
    return [
        {
            "match": {"userMessage": f"write {name}", "hasToolResult": True},
            "response": {"content": "That was it."},
        },
        {
            "match": {"userMessage": f"write {name}", "toolName": "write_file"},
            "response": {"toolCalls": [{"name": "write_file", "arguments": json.dumps(gemini)}]},
        },
        {
            "match": {"userMessage": f"write {name}"},
            "response": {"toolCalls": [{"name": "write", "arguments": json.dumps(opencode)}]},
        },
    ]


CASES = ("granted", "denied", "aap-granted", "aap-denied", "wire")
FIXTURES = [
    {"match": {"userMessage": "hello"}, "response": {"content": "Hi there, friend!"}},
    {"match": {"userMessage": "again"}, "response": {"content": "Once more."}},
    {
        "match": {"userMessage": "a story"},
        "response": {"content": "Once upon a time. " * 200},
        "chunkSize": 18,
        "latency": 50,
    },
    *(one for kind in KINDS for case in CASES for one in writing(f"{kind}-{case}.txt")),
]


def gemini(home: Path, service: Service) -> AcpAgent:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
    }
    (home / ".gemini").mkdir(parents=True)
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    env = {
        "HOME": str(home),
        "GEMINI_API_KEY": "key-for-tests",
        "GOOGLE_GEMINI_BASE_URL": service.url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    return AcpAgent("gemini", [peer("gemini"), "--acp", "--model", "gemini-2.5-flash"], env=env)


def opencode(home: Path, service: Service) -> AcpAgent:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Service",
        "options": {"baseURL": f"{service.url}/v1", "apiKey": "key-for-tests"},
        "models": {"small": {"name": "Small"}, "large": {"name": "Large"}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "service/small",
        "small_model": "service/small",
        "permission": {"edit": "ask", "bash": "ask"},
        "provider": {"service": provider},
    }
    home.mkdir()
    (home / "opencode.json").write_text(json.dumps(settings))
    env = {
        "HOME": str(home),
        "OPENCODE_CONFIG": str(home / "opencode.json"),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    return AcpAgent("opencode", [peer("opencode"), "acp"], env=env)


@dataclass(frozen=True)
class Real:
    """A host with both programs, and the service that answers them."""

    served: Served
    service: Service
    folder: Path


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    folder = tmp_path_factory.mktemp("real")
    (folder / "service").mkdir()
    with model_service(folder / "service", FIXTURES) as service:
        agents = [gemini(folder / "gemini", service), opencode(folder / "opencode", service)]
        with serving(folder / "host", *agents) as served:
            for agent in agents:
                served.run(known(agent), SECONDS)
            yield Real(served, service, folder)


async def known(agent: AcpAgent) -> None:
    """Wait until the program has introduced itself, however long that takes here."""
    while not agent.models:
        await agent.wait_known()


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn(real: Real, kind: str) -> None:
    async def story() -> None:
        talk = await real.served.talk(kind)
        heard = await talk.say("hello")
        assert heard.text == "Hi there, friend!"
        assert heard.ending["type"] == "session/turnComplete"

    real.served.run(story(), SECONDS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_offers(real: Real, kind: str) -> None:
    async def story() -> None:
        talk = await real.served.talk(kind)
        agent = real.served.site.host.agents[kind]
        modes = talk.state["config"]["schema"]["properties"]["mode"]["enum"]
        assert "plan" in modes
        assert len(agent.models) > 1
        assert agent.commands_of(talk.uri)
        assert tuple(agent.images) == ("data",)

    real.served.run(story(), SECONDS)


@pytest.mark.parametrize(("kind", "model"), [("gemini", "gemini-2.5-pro"), ("opencode", "service/large")])
def test_a_model_that_somebody_chooses_answers(real: Real, kind: str, model: str) -> None:
    async def story() -> None:
        talk = await real.served.talk(kind)
        assert await talk.act("modelChanged", model={"id": model}) is None
        assert (await talk.say(f"hello {kind}")).text == "Hi there, friend!"
        assert talk.state["summary"]["model"] == {"id": model}

    real.served.run(story(), SECONDS)
    asked = [body["model"] for body in real.service.requests(f"hello {kind}")]
    assert model.removeprefix("service/") in asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_permission_that_is_granted(real: Real, kind: str) -> None:
    file = real.served.workspace / f"{kind}-granted.txt"

    async def story() -> None:
        talk = await real.served.talk(kind)
        await talk.send(f"write {file.name}")
        call = await until_call(talk, "pending-confirmation")
        (edit,) = call["edits"]["items"]
        assert (edit["after"]["uri"], edit["diff"], "before" in edit) == (
            *(file.as_uri(), {"added": 2, "removed": 0}, False),
        )
        assert ALLOW_ONCE[kind] in [option["id"] for option in call["options"]]
        assert not file.exists()
        await talk.approve(call)
        heard = await talk.finish()
        assert heard.text == "That was it."
        assert file.read_text() == "one\ntwo\n"
        (done,) = calls_in(talk.state["turns"][-1])
        assert (done["status"], done["success"]) == ("completed", True)
        assert [edit["after"]["uri"] for edit in talk.state["summary"]["diffs"]] == [file.as_uri()]
        assert [one["role"] for one in transcript(talk.session)] == ["user", "assistant", "tool", "assistant"]

    real.served.run(story(), SECONDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_permission_that_is_denied(real: Real, kind: str) -> None:
    file = real.served.workspace / f"{kind}-denied.txt"

    async def story() -> None:
        talk = await real.served.talk(kind)
        await talk.send(f"write {file.name}")
        await talk.deny(await until_call(talk, "pending-confirmation"))
        await talk.finish()
        (done,) = calls_in(talk.state["turns"][-1])
        assert (done["status"], done["reason"]) == ("cancelled", "denied")
        assert not file.exists()
        # Whatever it makes of that, it answers the next message.
        assert (await talk.say("hello")).text == "Hi there, friend!"

    real.served.run(story(), SECONDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_turn_that_is_cancelled(real: Real, kind: str) -> None:
    async def story() -> None:
        talk = await real.served.talk(kind)
        await talk.send("tell me a story")
        await talk.hear(lambda action: action["type"] == "session/delta")
        await talk.cancel()
        await talk.finish()
        assert talk.state["turns"][-1]["state"] == "cancelled"
        assert (await talk.say("hello")).text == "Hi there, friend!"

    real.served.run(story(), SECONDS)


@pytest.mark.parametrize("kind", KINDS)
def test_permissions_over_aap(real: Real, kind: str) -> None:
    app, workspace = Speaker(real.served.url, 3), real.served.workspace
    granted = app.begin(f"write {kind}-aap-granted.txt", {"name": kind}, stream="delta")
    assert granted.stop == "tool_use"
    rest = app.turn(granted.session, permission(granted.calls["edit"]), stream="delta")
    assert (rest.stop, rest.text) == ("end_turn", "That was it.")
    assert (workspace / f"{kind}-aap-granted.txt").read_text() == "one\ntwo\n"
    denied = app.begin(f"write {kind}-aap-denied.txt", {"name": kind})
    rest = app.turn(denied.session, permission(denied.calls["edit"], granted=False))
    assert rest.stop == "end_turn"
    assert app.history(denied.session)[2] == result(denied.calls["edit"], "Tool call denied")
    assert not (workspace / f"{kind}-aap-denied.txt").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_of_ahp_on_a_real_socket(real: Real, kind: str) -> None:
    async def story() -> None:
        async with AhpClient(f"{real.served.url}/ahp") as client:
            session = await client.create(kind)
            saying = session.say(f"write {kind}-wire.txt")
            await session.until(lambda _: session.open_calls)
            await session.approve(session.open_calls[0], option=ALLOW_ONCE[kind])
            assert answer_text(await saying.turn()) == "That was it."

    real.served.run(story(), SECONDS)


def make_old(folder: Path) -> None:
    """Let chats of gemini-cli be of another minute: one of the same minute it overwrites when it loads it."""
    for chat in folder.glob("gemini/.gemini/tmp/*/chats/session-*.jsonl"):
        chat.rename(chat.with_name(f"session-2020-01-01T00-00-{chat.stem[-8:]}.jsonl"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_that_was_stopped_resumes_its_session(real: Real, kind: str) -> None:
    async def story() -> None:
        talk = await real.served.talk(kind)
        await talk.say("hello")
        agent: Any = real.served.site.host.agents[kind]
        await agent.relay._pool._current.leave()
        make_old(real.folder)
        await until(talk, lambda state: "activeTurn" not in state)
        assert (await talk.say("again")).text == "Once more."

    real.served.run(story(), SECONDS)
    # The model gets the history from the program, which was not given it by us.
    said = json.dumps(real.service.requests("again")[-1]["messages"])
    assert "Hi there, friend!" in said
    assert "This conversation began without you" not in said
