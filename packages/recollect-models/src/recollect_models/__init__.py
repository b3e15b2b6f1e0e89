"""Weights that Recollect runs locally. The package holds files and no code that runs them."""
