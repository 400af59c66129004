"""Errors of the library in the words of the command: options instead of keywords."""

import re

from truecount.errors import InputError

ARGUMENTS = ("label", "prediction", "missing", "positive", "sensitivity", "specificity", "target", "engine")
"""Arguments of the library that are options of the same name."""
PHRASES = {
    r"Prior\(confusion='(\w+)'\)": r"--prior-confusion \1",
    r"Prior\.known_confusion\(\.\.\.\)": "--sensitivity and --specificity",
    r"\bAuto\(\)": "--engine auto",
    r"\bHamiltonian\(\)": "--engine hamiltonian",
    r"\b(missing|target)=(?=['\"])": r"--\1 ",
    r"\buse infer\(\)": "leave --method out",
    r" with count\(\.\.\., \w+=\[\.\.\.\]\)": " in the file",
}
"""What the library advises, and what that is on the command line."""


def in_shell(error: InputError) -> InputError:
    """Give an error whose argument and remedy can be typed."""
    argument = f"--{error.argument}" if error.argument in ARGUMENTS else error.argument
    remedy = error.remedy
    for phrase, option in PHRASES.items():
        remedy = re.sub(phrase, option, remedy)
    return InputError(argument, error.found, error.needed, remedy)
