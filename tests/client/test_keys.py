"""Keys, with a real server that needs one; and what importing the client loads."""

import subprocess
import sys
from pathlib import Path

import pytest

from aap_servers import demo_server
from agenthost.client import AapClient, NotFound, Unauthorized
from hosting import run
from serving import TIMEOUT, environment


def create_key(folder: Path, owner: str) -> str:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "agenthost", "keys", "create", "--owner", owner, "--data", str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=TIMEOUT, env=environment()
    )
    return done.stdout.strip()


def test_a_server_with_keys_lets_each_owner_see_their_own_sessions(tmp_path: Path) -> None:
    data = tmp_path / "data"
    ann, bob = create_key(data, "ann"), create_key(data, "bob")

    async def story() -> None:
        async with AapClient(f"{url}/aap") as client:
            with pytest.raises(Unauthorized) as caught:
                await client.create("demo")
            assert caught.value.status == 401
        async with AapClient(f"{url}/aap", key=ann) as client:
            session = await client.create("demo")
            assert (await session.ask("hello")).text == "You said: hello"
        async with AapClient(f"{url}/aap", key=bob) as client:
            with pytest.raises(NotFound):
                await client.session(session.id).ask("hello")
            assert [info async for info in client.sessions()] == []

    with demo_server(tmp_path) as url:
        run(story)


def test_importing_the_client_loads_no_server() -> None:
    code = "import sys, agenthost.client; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"starlette", "uvicorn", "sqlite3", "typer", "cryptography", "agenthost.host"} & loaded
