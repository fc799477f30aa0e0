"""Tools that come with the host, ready for use by agents."""
