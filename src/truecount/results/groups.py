"""Findings of groups that were inferred one by one, each said once."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truecount._wording import listed
from truecount.reading.names import group_name
from truecount.results.finding import ORDER, Finding, gravest_first
from truecount.results.posterior import Posterior


def groups_findings(posteriors: Mapping[Any, Posterior]) -> tuple[Finding, ...]:
    """Say each kind of finding once, as grave as it is anywhere, and which groups have it; the gravest first."""
    found: dict[str, dict[Any, Finding]] = {}
    for group, posterior in posteriors.items():
        for finding in gravest_first(posterior.findings):
            found.setdefault(finding.code, {}).setdefault(group, finding)
    return gravest_first(_gravest(by_group, len(posteriors)) for by_group in found.values())


def _gravest(by_group: Mapping[Any, Finding], groups: int) -> Finding:
    """Return the gravest of a kind; unless all groups have it in the same words, whose it is and who else has it."""
    (group, gravest), *others = sorted(by_group.items(), key=lambda item: ORDER[item[1].severity])
    alike = [group_name(other) for other, finding in others if finding.severity == gravest.severity]
    milder = [group_name(other) for other, finding in others if finding.severity != gravest.severity]
    is_everywhere = len(alike) + 1 == groups
    if is_everywhere and len({finding.message for finding in by_group.values()}) == 1:
        return gravest
    others_too = "all other groups, each with numbers of its own" if is_everywhere else None
    more = f" Likewise in {others_too or listed(alike)}." if alike else ""
    less = f" Less gravely in {listed(milder)}." if milder else ""
    return replace(gravest, message=f"In {group_name(group)}: {gravest.message}{more}{less}")
