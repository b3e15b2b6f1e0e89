"""Measurements against the targets and against peers, run by hand: `python -m bench.NAME`."""
