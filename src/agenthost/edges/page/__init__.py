"""The page: a client in the browser, built from `web/`. This package only serves its files.

`page` has the routes, `files` reads the build, `placeholder` is shown if there is none.
"""

from agenthost.edges.page.page import Page

__all__ = ["Page"]
