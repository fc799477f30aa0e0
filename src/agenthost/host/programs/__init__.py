"""Programs that agents and tools are made of: found, started on pipes, ended with all that they started."""
