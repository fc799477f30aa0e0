"""A store that cannot be read: what it has is not reported as gone."""

import asyncio
import re
import signal
from typing import Any

import pytest
from websockets.asyncio.client import connect

from agenthost.wire.ahp import ROOT_URI
from databases import needs_postgres, own_postgres
from peer_nodes import SECRET
from power.clients import Line
from serving import run_agenthost, serving


@needs_postgres
@pytest.mark.parametrize("version", ["1.0.0", "0.1.0"])
def test_a_session_is_not_reported_as_gone_while_the_store_is_away(version: str) -> None:
    async def initialize(url: str, session: str) -> Any:
        wanted = {"protocolVersions": [version], "clientId": "a", "initialSubscriptions": [ROOT_URI, session]}
        async with connect(f"{url.replace('http', 'ws')}/ahp") as socket:
            return await Line(socket).ask("initialize", channel=ROOT_URI, **wanted)

    with own_postgres() as server:
        place: dict[str, Any] = {"AGENTHOST_STORE": server.url(), "AGENTHOST_SECRET_KEY": SECRET.decode()}
        with serving(**place) as served:
            _, _, told = run_agenthost("ask", "hello", "--url", served.wait_url())
            assert served.stop(signal.SIGTERM) == 0
        session = "demo:/" + re.findall(r"session (\w+):", told)[0]
        with serving(**place) as served:
            url = served.wait_url()
            server.stop()
            answer = asyncio.run(initialize(url, session))
            assert "the store cannot be read or written at present" in answer["error"]["message"]
            server.start()
            answer = asyncio.run(initialize(url, session))
            assert len(answer["result"]["snapshots"]) == 2
