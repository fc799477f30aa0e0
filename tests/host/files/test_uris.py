"""The URIs of files: read, written, and refused."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthost.errors import InvalidValue, ResourceNotFound
from agenthost.host.files.uris import MAX_DEPTH, normalize, parse_uri, uri_of

# Names as a disk has them: any bytes but a slash and a null, and not the two that mean folders.
names = st.binary(min_size=1, max_size=12).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)
paths = st.lists(names.map(os.fsdecode), max_size=6).map(tuple)


@given(paths)
def test_every_path_survives_being_a_uri_whatever_bytes_it_has(path: tuple[str, ...]) -> None:
    uri = uri_of(path)
    assert uri.isascii()
    assert parse_uri(uri).path == path


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b"]), max_size=12))
def test_dots_never_lead_above_the_top(names: list[str]) -> None:
    normal = os.path.normpath("/top/" + "/".join(names).lstrip("/")) if ".." not in names else None
    assert normal is None or ("top", *normalize(names)) == tuple(normal.split("/")[1:])
    assert normalize(normalize(names)) == normalize(names)
    assert not {"..", ".", ""} & set(normalize(names))


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
def test_one_path_has_several_spellings(uri: str) -> None:
    assert parse_uri(uri).path == ("a", "b")


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
        "file:///" + "a/" * (MAX_DEPTH + 1),
    ],
)
def test_a_broken_uri_is_refused_with_its_place(uri: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        parse_uri(uri, "$.source")
    assert refused.value.path == "$.source"


@pytest.mark.parametrize("uri", ["http://a/b", "demo:/one", "", "files:///a", "filé:///"])
def test_another_scheme_is_not_found(uri: str) -> None:
    with pytest.raises(ResourceNotFound):
        parse_uri(uri)
