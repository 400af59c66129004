"""Very many groups, unattended: inferred one by one by several processes, streamed to a file, resumed where stopped."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING

import click

from truecount._atomic import require_writable
from truecount._executor import workers_here
from truecount._progress import say
from truecount._wording import visible
from truecount.cli.options import GroupOptions, MisuseError, read_whole
from truecount.cli.report import Report
from truecount.counts import Groups
from truecount.inference.draws import cores_here
from truecount.models import LabelShift, Model
from truecount.results.separate.row_files import Output

if TYPE_CHECKING:
    from truecount.inference.draws import Engine
    from truecount.results.separate.answers import SeparateAnswers

MOST_POOLED = 1000
"""Groups that are pooled by default where the answer goes to --output: benchmarks/scale.py has what they cost."""
MOST_WORKERS = 1000
MOST_BY_ONE = 100
"""Groups that are inferred sooner than several processes would have begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Where rows go, and who infers; the fields are options of the command."""

    output: str | None = None
    partition: str | None = None
    resume: bool = False
    workers: str | None = None

    def require_sound(self, options: GroupOptions, report: Report, *, is_point: bool) -> None:
        """Refuse options that say something of a file where there is none, or where no such rows are written."""
        if is_point and self.output is not None:
            raise click.BadParameter("--output holds posteriors: it does not go with --method. Write --csv FILE.")
        for name in ("partition", "resume"):
            if getattr(self, name) and self.output is None:
                raise click.BadParameter(f"--{name} is given without --output: it says something of that file. Add it.")
        if self.workers is not None and self.output is None:
            raise click.BadParameter(
                "--workers is given without --output: processes infer groups one by one, which stream to a file. "
                "Add --output results.parquet."
            )
        if options.separate and self.output is None:
            raise click.BadParameter(
                "--separate is given without --output: groups that are inferred one by one stream to a file. "
                "Add --output results.parquet."
            )
        if options.separate and report.writes_files:
            raise click.BadParameter(
                "--separate goes with --output alone: a page, a picture and tables of groups are of joint draws. "
                "Leave out --separate, or the other files."
            )
        asked = "--class" if report.of_interest is not None else "--sort" if report.by_size else None
        if self.output is not None and asked is not None and not (report.writes_files or report.with_table):
            raise click.BadParameter(
                f"{asked} is given with --output alone, which holds every class of every group in the order of their "
                f"names. Leave {asked} out and select rows of the file, or add --table, --html or --csv."
            )
        self.number_of_workers()
        if self.made(report) is not None:
            require_writable(str(self.output), report.inputs)

    def made(self, report: Report) -> Output | None:
        """Return the output, checked; None where there is none."""
        if self.output is None:
            return None
        look = report.look
        columns = tuple(name.strip() for name in self.partition.split(",")) if self.partition else ()
        return Output(self.output, partition=columns, resume=self.resume, look=look)

    def onto(self, report: Report, by: Sequence[str]) -> Report:
        """Return a report whose rows go to the output."""
        made = self.made(report)
        if made is not None:
            made.require_columns(by)
        return replace(report, rows_file=made)

    def number_of_workers(self) -> int:
        """Return how many processes infer."""
        cores = cores_here()
        if self.workers is None:
            return cores
        return read_whole("--workers", self.workers, least=1, most=MOST_WORKERS, usual=cores)

    def is_separate(self, groups: Groups, options: GroupOptions, report: Report) -> bool:
        """Whether groups are inferred one by one: where that is asked for, and where there are very many."""
        if options.separate:
            return True
        is_alone = self.output is not None and not options.joint and not report.writes_files
        if is_alone and len(groups) > MOST_POOLED:
            say(
                f"{len(groups):,} groups are more than the {MOST_POOLED:,} up to which groups are pooled: each is "
                "inferred by itself, none borrows, and groups are not to be compared."
            )
            return True
        return False

    @staticmethod
    def unused_workers() -> click.BadParameter:
        """Return the error for a number of processes where all is inferred by one."""
        return click.BadParameter(
            "--workers is given, and the answer is drawn jointly, by one process: others infer groups one by one. "
            "Add --separate, or leave out --workers."
        )


def answer_separately(
    groups: Groups, model: Model, stream: Stream, report: Report, *, engine: "Engine", seed: int
) -> "SeparateAnswers":
    """Infer every group by itself, and write the rows."""
    from truecount.api.bayesian import infer

    if not isinstance(model, LabelShift):
        needed = "groups are inferred under label shift"
        raise MisuseError("--design", f"is {model.option()!r}", needed, "Leave out --design, or the groups")
    is_quick = stream.workers is None and len(groups) <= MOST_BY_ONE
    number = 1 if is_quick else stream.number_of_workers()
    with tidied_by_sigterm(), workers_here(number) as executor:
        try:
            answers = infer(groups, model, engine=engine, seed=seed, executor=executor, output=stream.made(report))
        except (KeyboardInterrupt, SystemExit):
            click.echo(f"Stopped. Finished groups stand in {stream.output}.parts; --resume goes on.", err=True)
            raise
    if not report.is_quiet:
        click.echo(answers.sentence, err=True)
        for group, error in list(answers.failed.items())[:10]:
            click.echo(f"{visible(group)}: {visible(error)}", err=True)
        click.echo(f"Wrote {visible(str(stream.output))}.", err=True)
    return answers


@contextmanager
def tidied_by_sigterm() -> Iterator[None]:
    """Let SIGTERM wait for what the workers have in hand: who just vanishes leaves behind what it shares with them."""
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def end_separately(answers: "SeparateAnswers", *, strict: bool) -> None:
    """End with exit code 3 where a group has no answer, and if strict where a finding is serious."""
    without = {name: count for name, count in answers.tally.status.items() if name in ("failed", "no-answer")}
    if without:
        told = ", ".join(f"{count:,} {name}" for name, count in sorted(without.items()))
        click.echo(f"No answer for some groups: {told}.", err=True)
        raise click.exceptions.Exit(3)
    serious = list(answers.tally.serious)
    if answers.of_labels is not None and answers.of_labels.severity == "serious":
        serious.append(answers.of_labels.code)
    if strict and serious:
        click.echo(f"Not to be trusted: {', '.join(serious)}.", err=True)
        raise click.exceptions.Exit(3)
