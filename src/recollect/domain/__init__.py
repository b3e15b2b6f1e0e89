"""What things are: frozen values and the closed union of changes. Standard library only, no clock, no I/O."""
