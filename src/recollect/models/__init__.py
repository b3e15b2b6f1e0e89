"""The outside minds: local models, and remote ones behind the same ports."""
