"""What runs: sessions, turns, tools, files, processes. The only part with tasks and clocks; says no protocol."""
