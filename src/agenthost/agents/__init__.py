"""Agents that come with the host: what answers. Each is an `Agent` like those of anybody else."""
