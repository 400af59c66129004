"""Densities of many groups at once, in unbounded coordinates, with gradients."""

from typing import TypeAlias

from truecount.models.hierarchy.pooled import PooledDensity as PooledDensity
from truecount.models.hierarchy.varying import VaryingDensity as VaryingDensity

GroupDensity: TypeAlias = PooledDensity | VaryingDensity
"""What draws of many groups are made from."""
