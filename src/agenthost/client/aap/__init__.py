"""The client of AAP, for applications that talk to an agent and bring tools of their own.

`client` is the server as a whole, `session` one conversation, `turn` one question and its answer; `sync` has
the same without `await`. What they are made of: `transport`, `replies` (HTTP), `versions` (how each version
of AAP says it), `exchange` (one request of a turn), `record` (what a turn said so far), `answering`, `tools`
and `permission` (what the agent asks the application for), `content`, `errors`. What an application needs is
in `agenthost.client`.
"""
