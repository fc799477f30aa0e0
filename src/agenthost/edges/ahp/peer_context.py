"""The client of a connection, as commands see it: its access to the host, and how to send it messages."""

from collections.abc import Callable, Coroutine
from typing import Any

from agenthost.edges.ahp.subscription_options import SubscriptionOptions
from agenthost.host.client import HostClient
from agenthost.host.log.subscriptions import LogItem, Subscriber
from agenthost.host.state.senders import Sender
from agenthost.wire.jsonrpc import Notification

__all__ = ["PeerContext"]


class PeerContext:
    """One connected client.

    Attributes:
        host: its access to the host.
        deliver: sends it an item that only this client sees.
        root_view: its view of the root.
        feed: its subscriptions.
        sender: the connection as a source of actions, once it is open.
        notify: sends it a notification.
        run: runs something in the background, until the connection ends.
    """

    def __init__(
        self,
        host: HostClient,
        subscriber: Subscriber,
        deliver: Callable[[LogItem], None],
        *,
        is_whole: bool = False,
    ) -> None:
        self.host = host
        self.deliver = deliver
        self.root_view = host.root_view()
        self.feed = host.follow(subscriber, is_whole=is_whole)
        self.sender: Sender | None = None
        self.notify: Callable[[Notification], None] = lambda _: None
        self.run: Callable[[Coroutine[Any, Any, None]], None] = lambda task: task.close()

    @property
    def options(self) -> SubscriptionOptions:
        """What the client asked for when it subscribed."""
        return SubscriptionOptions()

    def close(self) -> None:
        """End everything that belongs to the connection."""

    async def check_subscribable(self, uri: str) -> None:
        """Refuse a channel that the client may not see.

        Raises:
            HostError: why not.
        """
        await self.host.check_subscribable(uri)
