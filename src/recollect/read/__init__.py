"""The way out: a question is understood, looked up, ranked, packed and served."""
