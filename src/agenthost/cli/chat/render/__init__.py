"""Rendering: what happens in a session, as lines of text. Imports `terminal`, nothing else of the chat."""
