"""Agents that come with the host. Each is an ordinary `Agent`."""
