"""What is true: pure functions over states and actions. No await, no clock, no chance, no input or output."""
