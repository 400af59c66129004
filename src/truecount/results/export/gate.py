"""A check as a gate of continuous integration: what passed and what did not, as JUnit XML and as Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from xml.etree import ElementTree

from truecount._wording import visible
from truecount.results.check import Check
from truecount.results.summary import Look, refusal, remark, tabulate

SUITE = "truecount check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """One thing that was asked: an answer, a claim about a share, or that no finding is serious.

    Parameters
    ----------
    kind, name
        What was asked.
    is_passed
        Whether it holds.
    message
        What was found.
    """

    kind: str
    name: str
    is_passed: bool
    message: str


def tests_of(check: Check) -> tuple[Test, ...]:
    """Return what a check tests: that there is an answer, every claim, and that no finding is serious."""
    return tuple(_tests(check))


def _tests(check: Check) -> Iterator[Test]:
    posterior = check.posterior
    told = "" if posterior.has_answer else refusal(posterior)
    yield Test(kind="answer", name="there is an answer", is_passed=posterior.has_answer, message=told)
    for row in check.tables.get("conclusions", ()):
        holds = posterior.has_answer and row["shown"]
        yield Test(kind="conclusion", name=visible(row["conclusion"]), is_passed=holds, message=visible(row["verdict"]))
    serious = [finding for finding in check.findings if finding.severity == "serious"]
    for finding in serious:
        yield Test(kind="finding", name=finding.code, is_passed=False, message=remark(finding))
    if not serious:
        yield Test(kind="finding", name="no finding is serious", is_passed=True, message="")


def to_junit(check: Check) -> str:
    """Return JUnit XML: a test case for each thing that was asked; shares and findings are properties and output."""
    tests = tests_of(check)
    failed = sum(not test.is_passed for test in tests)
    numbers = {"tests": str(len(tests)), "failures": str(failed), "errors": "0", "skipped": "0"}
    root = ElementTree.Element("testsuites", {"name": SUITE, **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": SUITE, **numbers})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(check).items():
        ElementTree.SubElement(properties, "property", {"name": visible(name), "value": value})
    for test in tests:
        case = ElementTree.SubElement(suite, "testcase", {"classname": f"truecount.{test.kind}", "name": test.name})
        if not test.is_passed:
            ElementTree.SubElement(case, "failure", {"message": test.message, "type": test.kind}).text = test.message
    output = ElementTree.SubElement(suite, "system-out")
    output.text = "\n".join(visible(line) for line in str(check).splitlines())
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _properties(check: Check) -> dict[str, str]:
    """Return the shares as properties: those without a prefix are corrected, those that were counted say so."""
    answer = check.posterior.to_dict(level=check.level)
    found = {"corrected": str(answer["corrected"]).lower(), "status": answer["status"], "level": str(answer["level"])}
    for row in answer["classes"]:
        for name, key in (("share", "mean"), ("lower", "lower"), ("upper", "upper"), ("counted", "counted")):
            if row[key] is not None:
                found[f"{name}.{row['class']}"] = repr(row[key])
    return found


def to_markdown(check: Check) -> str:
    """Return a summary for a page of GitHub: the verdict, the shares, what was asked, and what to know."""
    tests = tests_of(check)
    failed = [test for test in tests if not test.is_passed]
    table = tabulate(check.posterior, Look(level=check.level))
    verdict = f"{len(failed)} of {len(tests)} failed" if failed else "passed"
    lines = [f"### truecount check: {verdict}", ""]
    if table.rows:
        lines += [_row(table.header), _row(["---", *["---:"] * (len(table.header) - 1)]), *map(_row, table.rows), ""]
        lines += ["*True shares are corrected for misclassification; counted ones are not.*", ""]
    for test in tests:
        mark = "\N{WHITE HEAVY CHECK MARK}" if test.is_passed else "\N{CROSS MARK}"
        told = f": {_safe(test.message)}" if test.message else ""
        lines.append(f"- {mark} {_safe(test.name)}{told}")
    others = [finding for finding in check.findings if finding.severity != "serious"]
    if others:
        lines += ["", "<details><summary>What else to know</summary>", ""]
        lines += [*(f"- {_safe(remark(finding))}" for finding in others), "", "</details>"]
    flag = f"<!-- truecount corrected={_properties(check)['corrected']} -->"
    return "\n".join([*lines, "", _safe(table.how), "", flag, ""])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(map(_safe, cells))} |"


def _safe(text: str) -> str:
    r"""Return text in which nothing is taken for HTML or Markdown.

    >>> print(_safe("a|b <c> *d*"))
    a\|b &lt;c&gt; \*d\*
    """
    return "".join(f"\\{sign}" if sign in "\\|*_`[]#" else sign for sign in escape(visible(text), quote=False))
