"""Densities of many groups at once, in unbounded coordinates, with gradients."""

from truecount.models.hierarchy.density import GroupDensity as GroupDensity
