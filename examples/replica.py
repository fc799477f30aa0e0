"""A client's replica: its own actions show at once, and the host has the last word."""

from agenthost.core.legacy.replica import Replica
from agenthost.wire.ahp.legacy.actions.session import SessionTitleChangedAction
from agenthost.wire.ahp.legacy.session import SessionState

URI = "demo:/first"

session: SessionState = {
    "summary": {
        "resource": URI,
        "provider": "demo",
        "title": "New session",
        "status": 1,
        "createdAt": 0,
        "modifiedAt": 0,
    },
    "lifecycle": "ready",
    "turns": [],
}
rename: SessionTitleChangedAction = {"type": "session/titleChanged", "session": URI, "title": "Plans"}

replica = Replica(client_id="laptop")
replica.load({"resource": URI, "state": session, "fromSeq": 41})


def show(moment: str) -> None:
    """Print the title that a person sees."""
    print(f"{moment}: {replica.session(URI)['summary']['title']}")


show("at first")
sent = replica.dispatch(rename, now=1)
show("said, not yet confirmed")
refusal = replica.apply(
    {
        "action": rename,
        "serverSeq": 42,
        "origin": {"clientId": "laptop", "clientSeq": sent["clientSeq"]},
        "rejectionReason": "the title is locked",
    },
    now=2,
)
show(f"refused ({refusal.reason if refusal else ''})")
