"""Files through the one door: each client with the rights of its owner, within the limits of the host."""

import asyncio
from pathlib import Path

import pytest

from agenthost.errors import LimitReached, ResourceConflict, ResourceDenied, ResourceExists
from agenthost.host.access.caller import Caller
from agenthost.host.access.identity import Identity
from agenthost.host.client_files import ClientFiles
from agenthost.host.files.params import ResourceChange
from agenthost.host.files.uris import uri_of
from agenthost.host.files.watches.watch import ResourceWatch
from agenthost.host.host import Host
from agenthost.host.limits import Limits
from hosting import run
from talking import talking


def files_of(host: Host, owner: str, client_id: str = "one") -> ClientFiles:
    return host.client(Identity.of(owner, client_id), Caller(owner)).files


async def rest_of(watch: ResourceWatch) -> list[list[ResourceChange]]:
    return [batch async for batch in watch]


def test_a_client_works_with_the_files_of_its_owner(tmp_path: Path) -> None:
    async def story() -> None:
        async with talking(tmp_path, workspaces=tmp_path / "workspaces") as host:
            top = uri_of(host.client(Identity("one", "ann"), Caller("ann")).workspace)
            ann, bob = files_of(host, "ann"), files_of(host, "bob")
            await ann.mkdir({"uri": f"{top}/a/b"})
            file = {"uri": f"{top}/a/b/file", "encoding": "utf-8"}
            await ann.write({**file, "data": "one", "createOnly": True})
            with pytest.raises(ResourceExists):
                await ann.write({**file, "data": "two", "createOnly": True})
            etag = (await ann.resolve(file))["etag"]
            await ann.write({**file, "data": " two", "mode": "append", "ifMatch": etag})
            with pytest.raises(ResourceConflict):
                await ann.write({**file, "data": " three", "mode": "append", "ifMatch": etag})
            assert (await ann.read(file))["data"] == "one two"
            for deed in (bob.resolve, bob.mkdir, bob.delete, bob.list):
                with pytest.raises(ResourceDenied):
                    await deed(file)
            with pytest.raises(ResourceDenied):
                await bob.create_watch(file["uri"])

    run(story)


def test_a_client_watches_within_the_limits_of_the_host(tmp_path: Path) -> None:
    async def story() -> None:
        limits = Limits(watches_per_client=1)
        async with talking(tmp_path, limits=limits) as host:
            top = tmp_path / "workspace"
            one, two = files_of(host, "", "one"), files_of(host, "", "two")
            watch = await one.create_watch(uri_of(top), recursive=True, excludes=["**/*.tmp"])
            assert (watch.info.uri, watch.info.recursive) == (uri_of(top), True)
            assert (watch.info.includes, watch.info.excludes) == (None, ("**/*.tmp",))
            with pytest.raises(LimitReached, match="1 watches of this client"):
                await one.create_watch(uri_of(top))
            await two.create_watch(uri_of(top))  # the host closes it
            await two.write({"uri": uri_of(top / "file"), "data": "", "encoding": "utf-8"})
            await two.write({"uri": uri_of(top / "file.tmp"), "data": "", "encoding": "utf-8"})
            async with asyncio.timeout(5):
                assert await anext(watch) == [{"uri": uri_of(top / "file"), "type": "added"}]
            waiting = asyncio.create_task(rest_of(watch))
        async with asyncio.timeout(5):
            assert await waiting == []  # it ends with the host

    run(story)
