"""Answers of groups that were inferred one by one, and the rows that stream to disk."""
