"""The page: a client in the browser, built from `web/`. What is here only hands out its files."""

from agenthost.edges.page.page import Page

__all__ = ["Page"]
