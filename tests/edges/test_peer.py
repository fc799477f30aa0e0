"""The endpoint for nodes, on a real server: there is one only if several nodes can share the store."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from agenthost.errors import PeerRefused
from agenthost.host.access.vault import Vault
from agenthost.host.cluster.peers import Peers
from agenthost.host.cluster.websocket import Dialer, PeerOptions
from agenthost.wire.json import decode_json
from databases import needs_postgres, own_schema, shared_postgres
from hosting import run
from peer_nodes import SECRET
from serving import serving
from sites import site


def test_a_host_on_a_data_folder_has_no_endpoint_for_nodes(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as served:
            with pytest.raises(InvalidStatus) as refused:
                await connect(f"{served.url.replace('http', 'ws')}/peer")
            assert refused.value.response.status_code == 404
            assert served.host.peers is None

    run(main)


@needs_postgres
def test_a_node_is_called_by_whoever_has_the_secret_key_and_needs_no_other() -> None:
    async def main(url: str) -> None:
        async def find_url(_node: int) -> str:
            return url

        keys = Vault(SECRET, "a test").derive("peer")
        peers = Peers(keys, 7, find_url, Dialer(PeerOptions()))
        try:
            with pytest.raises(PeerRefused, match="does not know 'nothing'"):
                await peers.call(1, "nothing", {})
        finally:
            await peers.close()
        async with connect(f"{url.replace('http', 'ws')}/peer") as stranger:
            assert set(decode_json(await stranger.recv())) == {"peer", "nonce"}
            await stranger.send(b"{}")
            with pytest.raises(ConnectionClosed):
                await stranger.recv()

    with own_schema(server := shared_postgres()) as schema:
        place: dict[str, Any] = {
            "AGENTHOST_STORE": server.url(schema),
            "AGENTHOST_SECRET_KEY": SECRET.decode(),
        }
        with serving(**place, AGENTHOST_NO_AUTH="false") as served:
            asyncio.run(main(served.wait_url()))
