"""The wire: typed values of both protocols, and how they are encoded and decoded. No state, no host."""
