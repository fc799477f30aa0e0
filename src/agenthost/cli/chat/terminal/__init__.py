"""The terminal: what is printed, painted and typed. Imports nothing else of the chat."""
