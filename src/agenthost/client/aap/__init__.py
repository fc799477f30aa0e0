"""The AAP client, for applications that talk to an agent and bring their own tools.

`client` is the server as a whole, `session` one conversation, `turn` one question and its answer; `sync` has
the same without `await`. Below them: `transport` and `replies` (HTTP), `server` (its version and agents),
`versions` (the differences between versions of AAP), `exchange` (the requests of a session), `record` (what
a turn has said so far), `responder`, `tools` and `permission` (what the agent asks of the application),
`content`, `errors`. Applications import from `agenthost.client`.
"""
