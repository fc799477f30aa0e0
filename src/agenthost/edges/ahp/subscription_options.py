"""What a client asked for when it subscribed, kept in memory for when it comes back."""

from dataclasses import dataclass, field

from agenthost.host.state.turn_loads import Views

__all__ = ["SubscriptionOptions"]


@dataclass(slots=True)
class SubscriptionOptions:
    """The options of a client's subscriptions.

    Attributes:
        views: what it has of chats that it has not all turns of.
        delays: how many seconds the actions of a channel may be held, by channel.
        is_lost: it had partial views before the host was started, and nobody knows which.
    """

    views: Views = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    is_lost: bool = False
