"""Densities of many groups at once, in unbounded coordinates, with gradients."""
