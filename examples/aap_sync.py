"""The client for programs without an event loop: a session is found again by its id.

Start a server with `./run serve`, then run this: `./run python examples/aap_sync.py [URL]`.
"""

import sys

from agenthost.client import DEFAULT_URL, SyncAapClient

url = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_URL

with SyncAapClient(url) as client:
    session = client.create("demo", options={"style": "loud"})
    print(session.ask("Good morning").text)
    remembered = session.id

with SyncAapClient(url) as client:
    session = client.session(remembered)
    for event in session.send("Good night"):
        if event["event"] == "text_delta":
            print(event["delta"], end="", flush=True)
    print()
    for message in session.history():
        print(f"{message['role']}: {message['content']}")
    session.delete()
