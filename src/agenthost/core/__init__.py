"""The rules: pure functions over states and actions. No await, no clock, no randomness, no I/O."""
