"""The plan: what the driver does in each session, drawn from a seed, and how the session looks at the end."""

import random
from dataclasses import dataclass, field

from crash.script import GATED, MODEL_KINDS, SINGLE

KINDS = (
    *SINGLE,
    *("talk", "think", "stream", "denied", "parallel", "chain", "ask", "show", "fail", "stop"),
    *sorted(GATED),
)

ENDINGS = {"fail": "error", "cancel": "cancelled", "cut": None}
"""How a turn ends that does not complete; `None` for one that is cut off, and leaves nothing."""

OF_SESSIONS = ("cut", "model", "queue")
"""What is done in default chats alone: it changes the session, or takes more than a message."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One turn that the driver starts, and what it does around it.

    Attributes:
        name: the id of the turn.
        kind: what the agent does, see `script`; also what the driver does meanwhile.
        queued: the messages that are queued meanwhile, by their ids.
        cut_after: the turn that is the last to stay; "" for none. Cut while the turn runs, or after it.
        fork: the URI of a session that is forked here.
        chat: the URI of a further chat that the session is given here.
        title: the name that the session is given.
    """

    name: str
    kind: str
    queued: dict[str, str] = field(default_factory=dict)
    cut_after: str | None = None
    fork: str | None = None
    title: str | None = None
    chat: str | None = None

    @property
    def text(self) -> str:
        """What the user says."""
        return f"{self.kind} {self.name}"

    @property
    def ending(self) -> str | None:
        """How the turn ends."""
        return ENDINGS.get(self.kind, "complete")


@dataclass(slots=True)
class SessionPlan:
    """A session: its turns, and those that are left of them at the end, each a message and an ending.

    A further chat has such a plan too, with the session that is its `home`. It may fork the turn `source`.
    """

    number: int
    uri: str
    agent: str
    exchanges: list[Exchange] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    title: str | None = None
    model: str | None = None
    fork: "SessionPlan | None" = None
    chat: "SessionPlan | None" = None
    home: str | None = None
    source: str | None = None

    @property
    def client(self) -> str:
        """The client that drives it."""
        return f"client of {self.home or self.uri}"


def plan_session(seed: int, number: int, *, with_model: bool = False) -> SessionPlan:
    """Draw the plan of the session of this number."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - to be drawn again, not to be safe
    agent = chance.choice(("model",) if with_model else ("talker", "stepper"))
    plan = SessionPlan(number, f"{agent}:/{number}", agent)
    names: list[str] = []  # of the turns that are there and that the driver has named
    for place in range(chance.randrange(2, 7)):
        _add(plan, names, chance, f"s{number}t{place}")
    return plan


def _add(plan: SessionPlan, names: list[str], chance: random.Random, name: str) -> None:
    kind = chance.choice(MODEL_KINDS if plan.agent == "model" else KINDS)
    queued = {f"{name}q{n}": f"{chance.choice(SINGLE)} {name}q{n}" for n in "ab"} if kind == "queue" else {}
    is_cut = kind == "cut" or chance.random() < 0.1
    cut_after = chance.choice(["", *names]) if is_cut else None
    can_fork = plan.fork is None and not is_cut and kind != "cancel"
    fork = f"{plan.agent}:/{plan.number}f" if can_fork and chance.random() < 0.15 else None
    title = f"Title {name}" if chance.random() < 0.15 else None
    can_chat = plan.chat is None and not is_cut and kind != "cancel"
    chat = f"ahp-chat:/{plan.number}c" if can_chat and chance.random() < 0.25 else None
    one = Exchange(name, kind, queued, cut_after, fork, title, chat)
    plan.exchanges.append(one)
    if chat is not None:
        plan.chat = _with_chat(plan, one, chance)
    _apply(plan, names, one)


def _apply(plan: SessionPlan, names: list[str], one: Exchange) -> None:
    """Work out what an exchange leaves."""
    if one.ending is not None:
        plan.left.append((one.text, one.ending))
        names.append(one.name)
    if one.kind == "model":
        plan.model = "large"
    if one.fork is not None:
        plan.fork = _forked(plan, one)
    plan.left += [(text, "complete") for text in one.queued.values()]
    if one.cut_after is not None:
        _cut(plan, names, one.cut_after)
    plan.title = one.title or plan.title


def _forked(plan: SessionPlan, one: Exchange) -> SessionPlan:
    """Plan a fork: what was there with this turn, and one turn of its own."""
    own = Exchange(f"{one.name}f", "model-chain" if plan.agent == "model" else "chain")
    left = [*plan.left, (own.text, "complete")]
    return SessionPlan(plan.number, one.fork or "", plan.agent, [own], left)


def _with_chat(plan: SessionPlan, one: Exchange, chance: random.Random) -> SessionPlan:
    """Plan a further chat with turns of its own. It may begin with what is there, this turn included."""
    kinds = MODEL_KINDS if plan.agent == "model" else [kind for kind in KINDS if kind not in OF_SESSIONS]
    own = [Exchange(f"{one.name}c{place}", chance.choice(kinds)) for place in range(2)]
    source = one.name if chance.random() < 0.5 else None
    before = [*plan.left, (one.text, one.ending or "")] if source else []
    left = [*before, *((each.text, each.ending or "") for each in own)]
    return SessionPlan(plan.number, one.chat or "", plan.agent, own, left, home=plan.uri, source=source)


def _cut(plan: SessionPlan, names: list[str], name: str) -> None:
    places = [place for place, (text, _) in enumerate(plan.left) if text.split()[1] == name]
    del plan.left[places[0] + 1 if places else 0 :]
    del names[names.index(name) + 1 if name in names else 0 :]
