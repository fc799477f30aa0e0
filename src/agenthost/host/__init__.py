"""What runs: sessions, turns, tools, files and processes. The only place with tasks and clocks; says no protocol."""
