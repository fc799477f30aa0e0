"""The URIs of files: read, written, and refused."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, ResourceNotFound
from agenthost.host.files.uris import DEEPEST, parts_of, target_of, uri_of

# Names as a disk has them: any bytes but a slash and a null, and not the two that mean folders.
names = st.binary(min_size=1, max_size=12).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)
paths = st.lists(names.map(os.fsdecode), max_size=6).map(tuple)


@given(paths)
def test_every_path_survives_being_a_uri_whatever_bytes_it_has(path: tuple[str, ...]) -> None:
    uri = uri_of(path)
    assert uri.isascii()
    assert target_of(uri).path == path


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b"]), max_size=12))
def test_dots_never_lead_above_the_top(names: list[str]) -> None:
    normal = os.path.normpath("/top/" + "/".join(names).lstrip("/")) if ".." not in names else None
    assert normal is None or ("top", *parts_of(names)) == tuple(normal.split("/")[1:])
    assert parts_of(parts_of(names)) == parts_of(names)
    assert not {"..", ".", ""} & set(parts_of(names))


@pytest.mark.parametrize(
    "uri",
    [
        "file:///a/b",
        "file:/a/b",
        "FILE:///a/b",
        "file://localhost/a/b",
        "file:///a/b/",
        "file:///a//b",
        "file:///a/./c/../b",
        "file:///a/%2e/c/%2E%2e/b",
        "file:///../a/b",
        "file:///%61/b",
    ],
)
def test_the_ways_to_write_one_path(uri: str) -> None:
    assert target_of(uri).path == ("a", "b")


@pytest.mark.parametrize(
    "uri",
    [
        "file:",
        "file:a/b",
        "file://server/a",
        "file:///a?b",
        "file:///a#b",
        "file:///a%2Fb",
        "file:///a%00",
        "file:///a%",
        "file:///a%zz",
        "file:///\ud800",
        "file:///" + "a/" * (DEEPEST + 1),
    ],
)
def test_a_broken_uri_is_refused_with_its_place(uri: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        target_of(uri, "$.source")
    assert refused.value.path == "$.source"


@pytest.mark.parametrize("uri", ["http://a/b", "demo:/one", "", "files:///a", "filé:///"])
def test_another_scheme_is_not_found(uri: str) -> None:
    with pytest.raises(ResourceNotFound):
        target_of(uri)
