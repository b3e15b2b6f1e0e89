"""What SQLite's finder keeps in memory of a tenant: columns to filter by, and codes of the vectors.

All of it is derived from the file and follows its revision. It proposes; the file confirms.
"""
