"""What is decided: pure functions of values, the moment and the rules."""
