"""What is shown where the page was not built: that it was not, and what there is instead."""

from agenthost.commands import called_as

__all__ = ["plain_page"]

_PLAIN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>agenthost</title>
<h1>agenthost is running</h1>
<p>The page that belongs here was not built. <code>./run page</code> in the project's folder builds it where
Node.js 20.19 or newer is installed; packages that are published have it inside.</p>
<p>Everything else is here:</p>
<ul>
<li>AAP, the Agent Application Protocol, over HTTP: <a href="/aap/meta">/aap/meta</a> lists the agents, and
<a href="/openapi.json">/openapi.json</a> describes it.</li>
<li>AHP, the Agent Host Protocol, over WebSocket: <code>/ahp</code>.</li>
<li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a> and <a href="/metrics">/metrics</a> tell
how it is.</li>
</ul>
<p><code>{command} chat URL</code>, with the address of this page, talks to an agent on the command line.
With API keys, all but <code>/healthz</code> and <code>/readyz</code> want
<code>Authorization: Bearer KEY</code>.</p>
</html>
"""


def plain_page() -> bytes:
    """Return the page, with our command as it was called."""
    return _PLAIN.format(command=called_as()).encode()
