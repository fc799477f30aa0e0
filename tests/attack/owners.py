"""Attacks of one owner on another, and of a key on what it was not given."""

import asyncio
import signal
from pathlib import Path
from typing import Any

from ahp_speaking import Client
from attack.chats import try_channels
from attack.stage import Stage, Target, hold

MALFORMED = -32602
MODEL_KEY = "sk-attack-0123456789abcdef"
PRIVATE = "what ann said in private"
PASSWORD = "correct-horse-battery-staple"  # noqa: S105 - it is looked for
CLAIM: Any = {"kind": "client", "clientId": "me"}


def plain_key(stage: Stage) -> str:
    """Try with a plain key what it was not given."""
    ann, bob = stage.key("ann"), stage.key("bob")
    folders = stage.folder / "folders"
    with stage.serve("--workspaces", folders) as target:
        session = target.session("caller", ann)
        metrics = target.ask("/metrics", key=bob)
        hold(metrics.status == 403, f"/metrics was answered with {metrics.status}")
        for method, path in (("GET", ""), ("GET", "/history?type=full"), ("POST", "/turns"), ("DELETE", "")):
            turn = {"messages": [{"role": "user", "content": "x"}]} if method == "POST" else None
            found = target.ask(f"/aap/sessions/{session}{path}", method, turn, bob)
            hold(found.status == 404, f"{method} of another's session was answered with {found.status}")
        trusting = {"agent": {"name": "caller", "tools": [{"name": "run", "trust": True}]}}
        told = target.ask("/aap/sessions", "POST", trusting, bob)
        hold(told.status == 403, f"`run` was trusted: {told.status}")
        tried = asyncio.run(_try_all(target, folders, ann, bob))
    return f"{tried} attempts refused"


async def _try_all(target: Target, folders: Path, ann: str, bob: str) -> int:
    async with target.client(ann) as owner, target.client(bob, "bob") as other:
        uri = await owner.begun("caller:/private", provider="caller")
        await owner.decide(uri, "session/titleChanged", title=PRIVATE)
        hers = (await _default_directory(target, ann)) / "private.txt"
        await owner.request("resourceWrite", uri=hers.as_uri(), data=PRIVATE, encoding="utf-8")
        hold(hers.is_relative_to(folders), f"ann's workspace is {hers.parent}")
        mine: Any = {"kind": "client", "clientId": "bob"}
        file = {"uri": hers.as_uri()}
        attempts: list[tuple[str, Any]] = [
            ("createTerminal", {"terminal": "t:/1", "claim": mine}),
            ("subscribe", {"resource": uri}),
            ("fetchTurns", {"session": uri}),
            ("disposeSession", {"session": uri}),
            ("createSession", {"session": "caller:/fork", "fork": {"session": uri, "turnId": "t"}}),
            ("resourceRead", file),
            ("resourceWrite", {**file, "data": "", "encoding": "utf-8"}),
            ("resourceDelete", file),
            ("resourceList", {"uri": hers.parent.as_uri()}),
            ("resourceRequest", {**file, "read": True}),
            ("resourceRequest", {"uri": folders.as_uri(), "read": True, "write": True}),
        ]
        for method, params in attempts:
            refused = await other.refusal(method, **params)
            hold(PRIVATE not in refused.message, f"{method} tells: {refused.message}")
            hold(refused.code != MALFORMED, f"{method} was not even tried: {refused.message}")
        hold((await other.request("listSessions"))["items"] == [], "another's sessions are listed")
        await _try_run(other)
        hold(PRIVATE not in "".join(other.frames), "what ann said came to bob")
        tried = await try_channels(target, ann, bob, PRIVATE, hers)
        hold(hers.read_text() == PRIVATE, "ann's file was changed")
        return len(attempts) + 1 + tried


async def _default_directory(target: Target, key: str) -> Path:
    async with Client.connected(target.url, "asks", key) as client:
        return Path((await client.open())["defaultDirectory"].removeprefix("file://"))


async def _try_run(client: Client) -> None:
    """Have an agent ask for a command, and approve it without the grant for that."""
    uri = await client.begun("caller:/run", provider="caller")
    turn = await client.send(uri, 'run {"command": "touch owned"}')
    asked = await client.hear_kind("session/toolCallReady")
    ids = {"turnId": turn, "toolCallId": asked["toolCallId"]}
    yes = {"approved": True, "confirmed": "user-action"}
    for option in asked.get("options", [{}]):
        if option.get("kind", "approve") == "approve":
            more = {"selectedOptionId": option["id"]} if option else {}
            told = await client.decide(uri, "session/toolCallConfirmed", **ids, **yes, **more)
            hold("rejectionReason" in told, f"a plain key approved a command by {option}")
    await client.decide(uri, "session/toolCallConfirmed", **ids, approved=False, reason="denied")
    await client.finish(uri, turn)


def same_name(stage: Stage) -> str:
    """Come with a key of one's own and the client id of another owner's client."""
    ann, bob = stage.key("ann"), stage.key("bob")
    with stage.serve() as target:
        asyncio.run(_same_name(target, ann, bob))
    return "one name, two owners"


async def _same_name(target: Target, ann: str, bob: str) -> None:
    async with target.client(ann) as owner:
        first = await owner.subscribe("agenthost:/root")
        uri = await owner.begun("caller:/private", provider="caller")
        refused = await owner.decide("agenthost:/root", "root/configChanged", config={"x": PRIVATE})
        hold("rejectionReason" in refused, "a plain key changes the settings of the host")
        seen = owner.last_seq
        async with Client.connected(target.url, "me", bob) as other:
            back = await other.reopen(max(seen - 50, 0), "agenthost:/root", uri)
            hold(PRIVATE not in "".join(other.frames), "a refusal came to another owner")
            hold(uri in back.get("missing", [uri]), "a session came to another owner")
        async with target.client(bob) as other:
            root = await other.subscribe("agenthost:/root")
            hold(root["activeSessions"] == 0, f"bob counts {root['activeSessions']} sessions of ann")
        hold(first is not None and owner.state(uri)["lifecycle"] == "ready", "ann's session has changed")


def shell(stage: Stage) -> str:
    """Open a shell, and look around."""
    ann, bob = stage.key("ann", "--terminals"), stage.key("bob")
    folders = stage.folder / "folders"
    more = ("--workspaces", folders, "--workspace", stage.folder)
    with stage.serve(*more, OPENAI_API_KEY=MODEL_KEY) as target:
        line = target.served.out.wait_for("sandbox")
        return asyncio.run(_try_shell(stage, target, ann, bob, is_boxed="on:" in line))


async def _try_shell(stage: Stage, target: Target, ann: str, bob: str, *, is_boxed: bool) -> str:
    file = await _default_directory(target, bob) / "private.txt"
    async with target.client(bob, "bob") as other:
        await other.request("resourceWrite", uri=file.as_uri(), data=PRIVATE, encoding="utf-8")
    async with target.client(ann) as owner:
        at_home = {"terminal": "t:/data", "claim": CLAIM, "cwd": stage.data.as_uri()}
        await owner.refusal("createTerminal", **at_home)
        if not is_boxed:
            refused = await owner.refusal("createTerminal", terminal="t:/1", claim=CLAIM)
            return f"without bubblewrap: {refused.message}"
        await owner.request("createTerminal", terminal="t:/1", claim=CLAIM)
        await owner.subscribe("t:/1")
        look = f"env; cat /proc/[0-9]*/environ {file} {stage.data}/*; ls -A {stage.data} {file.parent}"
        await owner.decide("t:/1", "terminal/input", data=f"{look}; echo o''ver\n")
        await owner.until(lambda: "\nover" in _printed(owner).replace("\r", ""))
        said = _printed(owner)
    hold(MODEL_KEY not in said, "the shell read a model's key")
    hold(PRIVATE not in said, "the shell read another owner's file")
    hold(not any(f"\n{name}" in said for name in ("secret.key", "keys.json")), "the data folder is there")
    return "in a sandbox"


def _printed(client: Client) -> str:
    parts = client.state("t:/1")["content"]
    return "".join(part.get("value", "") + part.get("output", "") for part in parts)


def git_hooks(stage: Stage) -> str:
    """Write where git and the host keep what is run or believed."""
    hooks = [stage.workspace / name / "hooks" for name in (".git", ".GIT")]
    for folder in hooks:
        folder.mkdir(parents=True, exist_ok=True)
    (stage.workspace / "way").symlink_to(hooks[0])
    key = stage.key("ann")
    keys = (stage.data / "keys.json").read_bytes()
    # The data folder is in the workspace: else it is out of reach anyway.
    with stage.serve("--workspace", stage.folder) as target:
        tried = asyncio.run(_write_all(stage, target, key))
    hold(not any(list(folder.iterdir()) for folder in hooks), "a hook was written")
    hold((stage.data / "keys.json").read_bytes() == keys, "a key was made")
    return f"{tried} attempts refused"


async def _write_all(stage: Stage, target: Target, key: str) -> int:
    inside = [".git/hooks/pre-commit", ".GIT/hooks/pre-commit", ".git/config", "way/post-checkout"]
    places = [*(stage.workspace / name for name in inside), stage.workspace / ".." / "data" / "token"]
    places += [stage.data / name for name in ("keys.json", "new.json", "secret.key")]
    async with target.client(key) as client:
        plain = stage.workspace / "plain.txt"
        await client.request("resourceWrite", uri=plain.as_uri(), data="x", encoding="utf-8")
        for place in places:
            uri = f"file://{place}"
            data = {"data": "#!/bin/sh", "encoding": "utf-8"}
            way = {"source": plain.as_uri(), "destination": uri}
            attempts = {"resourceWrite": {"uri": uri, **data}, "resourceCopy": way, "resourceMove": way}
            for method, params in attempts.items():
                refused = await client.refusal(method, **params)
                hold(refused.code != MALFORMED, f"{place} was not even tried: {refused.message}")
    return 3 * len(places)


def secrets(stage: Stage) -> str:
    """Tell secrets in changes that are refused, and look for them afterwards."""
    key = stage.key("ann")
    wire = stage.folder / "wire.log"
    with stage.serve("--wire-log", wire, "--log-level", "debug") as target:
        asyncio.run(_tell_secrets(target, key))
        target.served.stop(signal.SIGTERM)
        logs = "\n".join(target.served.out.rest() + target.served.err.rest())
    files = [wire, *(path for path in stage.data.rglob("*") if path.is_file())]
    for secret in (PASSWORD, key):
        hold(secret not in logs, "a secret is in the log")
        for path in files:
            hold(secret.encode() not in path.read_bytes(), f"a secret is in {path.name}")
    return f"{len(files)} files and the log"


async def _tell_secrets(target: Target, key: str) -> None:
    async with target.client(key) as client:
        # A secret is set when the session is made, and never again: so each of these changes is refused.
        uri = await client.begun("caller:/secret", provider="caller", config={"password": PASSWORD})
        for config in (
            {"password": PASSWORD, "nothing": 1},
            {"password": PASSWORD, "nothing": "x" * 10_000},
            {"password": [PASSWORD]},
            {"Password": PASSWORD},
            {"colour": [PASSWORD]},
        ):
            told = await client.decide(uri, "session/configChanged", config=config)
            hold("rejectionReason" in told, f"{list(config)} was taken")
