"""A client's replica: its own actions show at once, and the host has the last word."""

from agenthost.core.actions import title_changed
from agenthost.core.replica import Replica
from agenthost.wire.ahp.session import SessionState

URI = "demo:/first"

session: SessionState = {
    "provider": "demo",
    "title": "New session",
    "status": 1,
    "lifecycle": "ready",
    "activeClients": [],
    "chats": [],
}
rename = title_changed("Plans")

replica = Replica(client_id="laptop")
replica.load({"resource": URI, "state": session, "fromSeq": 41})


def show(moment: str) -> None:
    """Print the title that a person sees."""
    print(f"{moment}: {replica.session(URI)['title']}")


show("at first")
sent = replica.dispatch(URI, rename)
show("said, not yet confirmed")
refusal = replica.apply(
    {
        "channel": URI,
        "action": rename,
        "serverSeq": 42,
        "origin": {"clientId": "laptop", "clientSeq": sent["clientSeq"]},
        "rejectionReason": "the title is locked",
    }
)
show(f"refused ({refusal.reason if refusal else ''})")
