"""What goes wrong at a model's service, as it is told over each protocol.

The services are raw servers of the tests' own, as aimock cannot do it: see `test_failing`.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from aap_servers import HANG, OddServer
from hosting import run
from model_talking import PROTOCOLS, Outcome
from model_wires import BY_NAME, Wire, answers, refused
from modelling import WIRES, model_agent
from sites import site

SERVICES = {"chat": "OpenAI", "responses": "OpenAI", "anthropic": "Anthropic", "google": "Google"}
KEPT = "; what it said so far is kept"


def cases(wire: Wire) -> dict[str, list[list[bytes]]]:
    """Return the answers of the services, by the name of the agent."""
    return {
        "refuses": [wire.whole("I would rather not.", stop=2)],
        "busy": [refused("429 Too Many Requests", retry_after_ms="1"), wire.whole("Here I am.")],
        "breaks": [[*wire.start("Once upon"), *wire.broken]],
        "hangs": [[*wire.start("Once"), HANG]],
        "wrong-key": [refused("401 Unauthorized", "no such key", "invalid_api_key")],
    }


@contextmanager
def services(wire: Wire) -> Iterator[dict[str, OddServer]]:
    with ExitStack() as stack:
        servers = {name: OddServer(**answers(wire, *told)) for name, told in cases(wire).items()}
        for server in servers.values():
            stack.callback(server.close)
        yield servers


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("wire", WIRES)
def test_errors_are_reported_in_the_terms_of_the_protocol(tmp_path: Path, wire: str, protocol: str) -> None:
    told: dict[str, Outcome] = {}

    async def story() -> None:
        agents = []
        for name, server in servers.items():
            agent = model_agent(wire, server.url, titles=False, settings={"timeout": 0.5})
            agent.name = name
            agents.append(agent)
        async with site(tmp_path, agents=agents) as served:
            for name in servers:
                async with PROTOCOLS[protocol](served.url, name).open() as talker:
                    told[name] = await talker.say("Hello")

    with services(BY_NAME[wire]) as servers:
        run(story)
    assert {name: (one.text, one.stop) for name, one in told.items()} == {
        "refuses": ("I would rather not.", "refusal"),
        "busy": ("Here I am.", "end_turn"),
        "breaks": ("Once upon", "error"),
        "hangs": ("Once", "error"),
        "wrong-key": ("", "error"),
    }
    if protocol == "AHP":  # AAP has no place for a sentence
        assert told["breaks"].error.endswith(KEPT)
        assert told["hangs"].error.endswith(f"{SERVICES[wire]} did not answer in time{KEPT}")
        assert f"{SERVICES[wire]} does not accept the API key: set " in told["wrong-key"].error
