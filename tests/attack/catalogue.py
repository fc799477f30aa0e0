"""The attacks that there are, and how some of them are run: each on a stage of its own."""

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attack import agency, damage, freezing, messages, owners, strangers
from attack.stage import GaveWay, Stage

__all__ = ["ATTACKS", "Attack", "run"]

Play = Callable[[Stage], str]


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack.

    Attributes:
        name: how it is called.
        sentence: what has to hold.
        play: does it; returns what it measured, and raises if something gave way.
        is_quick: whether it is a part of `./check`.
    """

    name: str
    sentence: str
    play: Play
    is_quick: bool = False


ATTACKS: dict[str, Attack] = {
    one.name: one
    for one in (
        Attack(
            "no-token",
            "Without the token every path, every origin and every WebSocket is refused.",
            strangers.no_token,
            is_quick=True,
        ),
        Attack(
            "half-requests",
            "300 peers that never finish a request lock nobody out, cost little, and are gone in seconds.",
            strangers.half_requests,
        ),
        Attack(
            "patterns",
            "A hostile `.gitignore`, the same as a glob, and a long edit of a large file freeze nobody.",
            freezing.patterns,
            is_quick=True,
        ),
        Attack(
            "held-interpreter",
            "SIGTERM ends a server within nine seconds, even while native code holds the interpreter.",
            freezing.held_interpreter,
        ),
        Attack(
            "poison-turn",
            "A turn whose tool kills the process ends with an error the third time, and the host survives.",
            freezing.poison_turn,
        ),
        Attack(
            "frames",
            "Frames that are made to be expensive, within the limits or not, delay no other client.",
            messages.frames,
            is_quick=True,
        ),
        Attack(
            "silent-readers",
            "Applications that hardly read their streams cost little, however much they missed.",
            messages.silent_readers,
        ),
        Attack(
            "plain-key",
            "A key with the default grants opens no shell, runs nothing, and sees nothing of other owners.",
            owners.plain_key,
            is_quick=True,
        ),
        Attack(
            "same-name",
            "A client with the id of another owner's client learns nothing about that client.",
            owners.same_name,
            is_quick=True,
        ),
        Attack(
            "shell",
            "A shell in the sandbox finds no model keys, no data folder, and no files of other owners.",
            owners.shell,
            is_quick=True,
        ),
        Attack(
            "git-hooks",
            "A key that may write files can write neither git's hooks nor the host's own data.",
            owners.git_hooks,
            is_quick=True,
        ),
        Attack(
            "secrets",
            "Secrets of sessions and keys are in no file and no log, even if a change was refused.",
            owners.secrets,
            is_quick=True,
        ),
        Attack(
            "stretched-approval",
            "Approving a command for the session approves exactly this command and no other.",
            agency.stretched_approval,
            is_quick=True,
        ),
        Attack(
            "changed-tool",
            "An MCP tool that changes after its approval asks again, and says what changed.",
            agency.changed_tool,
            is_quick=True,
        ),
        Attack(
            "fork-bomb",
            "An agent that delegates to twenty copies of itself, recursively, makes few sessions and ends.",
            agency.fork_bomb,
        ),
        Attack(
            "bit-flips",
            "Whatever bits of the store flip, a session is served unchanged or refused with a reason.",
            damage.bit_flips,
            is_quick=True,
        ),
        Attack(
            "power-cuts",
            "Power cuts take nothing that was shown, and no number ever means two things.",
            damage.power_cuts,
        ),
    )
}


def run(attacks: Sequence[Attack], seed: int, tell: Callable[[str], None]) -> int:
    """Run attacks one after the other, and tell what became of each; returns how many gave way, 1 at most."""
    fallen = [attack.name for attack in attacks if not _holds(attack, seed, tell)]
    tell(
        f"{len(attacks) - len(fallen)} of {len(attacks)} held" + (f"; not {', '.join(fallen)}" * bool(fallen))
    )
    return 1 if fallen else 0


def _holds(attack: Attack, seed: int, tell: Callable[[str], None]) -> bool:
    tell(f"{attack.name}: {attack.sentence}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="agenthost-attack-") as folder:
        stage = Stage(Path(folder), random.Random(seed), tell=lambda line: tell(f"  {line}"))  # noqa: S311
        try:
            measured = attack.play(stage)
        except GaveWay as way:
            tell(f"  GAVE WAY: {way}")
            return False
        except Exception as error:  # whatever an attack did not expect did not hold
            tell(f"  GAVE WAY: {type(error).__name__}: {error}")
            return False
    tell(f"  held, {time.monotonic() - begun:.0f} s: {measured}")
    return True
