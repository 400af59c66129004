"""Errors and findings of the library in the words of the command: options instead of keywords."""

import re
from collections.abc import Callable
from dataclasses import replace

from truecount.errors import InputError
from truecount.models.register import KINDS
from truecount.results.finding import Finding

ARGUMENTS = (
    "label",
    "prediction",
    "missing",
    "by",
    "prior",
    "weight",
    "positive",
    "sensitivity",
    "specificity",
    "target",
    "engine",
    "joint",
    "above",
    "below",
    "drift",
    "label_error",
)
"""Arguments of the library that are options of the same name."""
PHRASES: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"Prior\(confusion='(\w+)'\)": r"--prior-confusion \1",
    r"Prior\.known_confusion\(\.\.\.\)": "--sensitivity and --specificity",
    r", or give it longer with Auto\(budget=\.\.\.\)": "",
    r"\bAuto\(\)": "--engine auto",
    r"\bHamiltonian\(\)": "--engine hamiltonian",
    r"\bmissing=\[([^]]*)\]": lambda match: " ".join(f"--missing {word}" for word in match[1].split(", ")),
    r"\b(missing|target|label|prediction)=(?=['\"])": r"--\1 ",
    r"\b([Uu])se infer\(\)": lambda match: f"{'L' if match[1] == 'U' else 'l'}eave --method out",
    r"Use restricted=True, or infer\(\), whose": "Leave --method out: the posterior's",
    r"interval\(kind='hdi'\)": "--interval hdi",
    r"\bby=\{'([^']+)': '(\w+)'\}(; a column beside it without a period has None)?": r"--by \1:\2",
    **{rf"\bmodel={kind.__name__}\(\)": f"--design {kind.option()}" for kind in KINDS},
    r"check\(\.\.\., audit=\.\.\.\)": "truecount check --audit FILE",
    r"\baudit=\.\.\.": "--audit FILE",
    r"infer_many\(groups, joint=True\)": "--joint",
    r"\bjoint=False\b": "no --joint",
    r", or name both with .*": "",
    r" with count\(\.\.\., \w+=\[\.\.\.\]\)": " in the file",
}
"""What the library advises, and what that is on the command line."""

ELSEWHERE = r"--(interval|target|joint)\b"
"""Options that only ``truecount estimate`` has."""


def in_shell(error: InputError) -> InputError:
    """Return an error whose argument and remedy can be typed."""
    argument = f"--{error.argument.replace('_', '-')}" if error.argument in ARGUMENTS else error.argument
    return InputError(argument, error.found, error.needed, in_command(error.remedy))


def finding_in_shell(finding: Finding) -> Finding:
    """Return a finding whose advice can be typed."""
    return replace(finding, advice=in_command(finding.advice))


def finding_in_check(finding: Finding) -> Finding:
    """Return a finding of `truecount check`, which lacks some options of `truecount estimate`."""
    told = finding_in_shell(finding)
    return replace(told, advice=re.sub(ELSEWHERE, r"truecount estimate \g<0>", told.advice))


def in_command(advice: str) -> str:
    """Return what the library says with options instead of keywords."""
    for phrase, option in PHRASES.items():
        advice = re.sub(phrase, option, advice)
    return advice
