"""The server store: PostgreSQL with pgvector, one schema, every row behind its tenant's policy."""
