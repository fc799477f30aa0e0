"""Files and contents through the socket."""

from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

from agenthost.host.files.grants import FilePolicy
from ahp_agents import ECHO
from ahp_sites import Place, on_a_host
from ahp_speaking import new_uri
from rules import rule


@rule("HR-F01", "HR-F04", "HR-F06")
@on_a_host()
async def test_files_are_written_listed_read_copied_moved_and_deleted(place: Place) -> None:
    async with place.client() as me:
        uri = place.uri("a.txt")
        assert await me.request("resourceWrite", uri=uri, data="Grüße", encoding="utf-8") == {}
        read = await me.request("resourceRead", uri=uri)
        assert (read["data"], read["encoding"]) == ("Grüße", "utf-8")
        read = await me.request("resourceRead", uri=uri, encoding="base64")
        assert (b64decode(read["data"]), read["encoding"]) == ("Grüße".encode(), "base64")
        await me.request("resourceCopy", source=uri, destination=place.uri("b.txt"))
        await me.request("resourceMove", source=uri, destination=place.uri("c.txt"))
        listed = await me.request("resourceList", uri=place.uri())
        assert sorted(one["name"] for one in listed["entries"]) == ["b.txt", "c.txt"]
        await me.request("resourceDelete", uri=place.uri("b.txt"))
        assert [one.name for one in place.workspace.iterdir()] == ["c.txt"]
        for method in ("resourceRead", "resourceList", "resourceDelete"):
            assert (await me.refusal(method, uri=uri)).code == -32008
        assert (await me.refusal("resourceList", uri=place.uri("c.txt"))).code == -32008
        for wrong in ({}, {"uri": 5}, {"uri": uri, "encoding": 5}):
            assert (await me.refusal("resourceRead", **wrong)).code == -32602


@rule("HR-F06")
@on_a_host(ECHO)
async def test_content_that_is_not_text_is_base64_whatever_was_requested(place: Place) -> None:
    async with place.client() as me:
        data = b64encode(b"\xff\x00").decode()
        await me.request("resourceWrite", uri=place.uri("x"), data=data, encoding="base64")
        read = await me.request("resourceRead", uri=place.uri("x"), encoding="utf-8")
        assert (read["data"], read["encoding"]) == (data, "base64")
        uri = await me.begun(new_uri("echo"))
        turn = await me.say(uri, "/show")
        contents = [part for part in turn["responseParts"] if part["kind"] == "contentRef"]
        found = [await me.request("resourceRead", uri=one["uri"]) for one in contents]
        assert [one["encoding"] for one in found] == ["base64", "utf-8"]
        assert found[1]["data"] == "plain"
        assert (await me.refusal("resourceRead", uri=contents[0]["uri"] + "0")).code == -32008


@rule("HR-F03", "HR-F05")
@on_a_host()
async def test_existing_files_are_not_replaced_or_removed_unless_requested(place: Place) -> None:
    (place.workspace / "d").mkdir()
    for name in ("a", "b", "d/e"):
        (place.workspace / name).write_text(name)
    async with place.client() as me:
        a, b = place.uri("a"), place.uri("b")
        new = {"data": "new", "encoding": "utf-8", "createOnly": True}
        assert (await me.refusal("resourceWrite", uri=a, **new)).code == -32010
        for method in ("resourceCopy", "resourceMove"):
            assert (await me.refusal(method, source=a, destination=b, failIfExists=True)).code == -32010
        assert (await me.refusal("resourceDelete", uri=place.uri("d"))).code == -32602
        assert [(place.workspace / name).read_text() for name in ("a", "b", "d/e")] == ["a", "b", "d/e"]
        assert await me.request("resourceDelete", uri=place.uri("d"), recursive=True) == {}


@rule("HR-F02", "HR-F07")
@pytest.mark.parametrize(("policy", "is_let_in"), [("allow", True), ("deny", False), ("ask", False)])
def test_access_outside_of_the_workspace_has_to_be_requested(
    tmp_path: Path, policy: Any, is_let_in: bool
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("out")

    @on_a_host(file_policy=FilePolicy(reading=policy, writing="deny"))
    async def story(place: Place) -> None:
        async with place.client() as me:
            refused = await me.refusal("resourceRead", uri=outside.as_uri())
            assert refused.code == -32009
            if policy == "allow":
                assert refused.data == {"request": {"uri": outside.as_uri(), "read": True}}
            if is_let_in:
                assert await me.request("resourceRequest", uri=outside.as_uri(), read=True) == {}
                assert (await me.request("resourceRead", uri=outside.as_uri()))["data"] == "out"
            else:
                assert (await me.refusal("resourceRequest", uri=outside.as_uri())).code == -32009
            assert (await me.refusal("resourceRequest", uri=outside.as_uri(), write=True)).code == -32009
            for sly in (f"{place.uri()}/../outside.txt", f"{place.uri()}/%2e%2e/outside.txt"):
                if not is_let_in:
                    assert (await me.refusal("resourceRead", uri=sly)).code in (-32009, -32602, -32008)

    story(tmp_path / "host")
