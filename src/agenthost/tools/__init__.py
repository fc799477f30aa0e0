"""Tools that come with the host, for agents to take: each set is a package of its own."""
