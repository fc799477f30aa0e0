"""The placeholder that is shown if the page was not built: how to build it, and what else there is."""

from agenthost.commands import program_name

__all__ = ["placeholder_page"]

_PLAIN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>agenthost</title>
<h1>agenthost is running</h1>
<p>The page was not built. <code>./run page</code> in the project's folder builds it, with Node.js 20.19 or
newer. Published packages include it.</p>
<p>Everything else is available:</p>
<ul>
<li>AAP, the Agent Application Protocol, over HTTP: <a href="/aap/meta">/aap/meta</a> lists the agents, and
<a href="/openapi.json">/openapi.json</a> describes it.</li>
<li>AHP, the Agent Host Protocol, over WebSocket: <code>/ahp</code>.</li>
<li><a href="/healthz">/healthz</a>, <a href="/readyz">/readyz</a> and <a href="/metrics">/metrics</a> show
its state.</li>
</ul>
<p><code>{command} chat URL</code>, with the address of this page, talks to an agent on the command line.
With API keys, everything except <code>/healthz</code> and <code>/readyz</code> requires
<code>Authorization: Bearer KEY</code>.</p>
</html>
"""


def placeholder_page() -> bytes:
    """Return the placeholder, with the command as the user calls it."""
    return _PLAIN.format(command=program_name()).encode()
