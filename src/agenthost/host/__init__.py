"""What runs: sessions, turns, tools, files and processes. The only part with tasks and clocks."""
