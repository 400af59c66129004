"""Stage 8: a page to work in, served on this machine alone."""
