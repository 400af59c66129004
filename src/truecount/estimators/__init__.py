"""Stage 3a: counts or scores become a point, the share of every class, with no uncertainty of its own."""
