"""Weights of the larger judge, which Recollect runs locally. The package holds files and no code that runs them."""
