"""Turns that run: the agent's task, its output, its tool calls and questions.

May import: sessions, authoring, state, log, storage, limits.
"""
