"""Independent weighted draws, turned into equally weighted ones."""
