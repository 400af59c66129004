"""Answers for many groups that were drawn jointly, and what is asked and shown of them."""
