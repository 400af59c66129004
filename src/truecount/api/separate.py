"""Groups one by one, on any executor: same seed, same group, same draws, wherever and in whatever order."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from os import PathLike
from typing import Any

from truecount._executor import Division, Failure
from truecount._progress import note, track
from truecount.counts import Groups
from truecount.diagnostics.findings import of_posterior
from truecount.diagnostics.homogeneity import labels_differ
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Draws, Engine
from truecount.models import Density, LabelShift
from truecount.reading.names import written
from truecount.results import Posterior
from truecount.results.export.provenance import Origin
from truecount.results.finding import Awaited
from truecount.results.separate.answers import SeparateAnswers, StatusCounts
from truecount.results.separate.row_files import Output, RowFiles
from truecount.results.separate.rows import (
    Row,
    column_kinds,
    key_columns,
    keys_of,
    rows_of_failure,
    rows_of_posterior,
)
from truecount.results.summary import Look

CELLS_OF_PIECE, CELLS_AT_ONCE = 1000, 100
"""Groups times cells of the confusion that one worker is handed, and that it solves at once."""


def group_seed(seed: int, group: Any) -> int:
    """Return a group's own seed, by its name: the same in any order, among any others, on any machine.

    >>> group_seed(0, "north") == group_seed(0, ("north",)), group_seed(0, 1) == group_seed(0, "1")
    (True, True)
    """
    keys = group if isinstance(group, tuple) else (group,)
    named = json.dumps([None if key is None else str(written(key)) for key in keys], ensure_ascii=True)
    return int.from_bytes(sha256(f"{seed} {named}".encode()).digest()[:8]) >> 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Separately:
    """How each group is inferred and summarised; what a worker needs beside the groups themselves.

    Parameters
    ----------
    model, engine, origin
        As in `infer`; the seed of `origin` is that of all groups.
    look
        Which summary is kept.
    sharing
        How many groups share their labels, 0 where that is not counted; None where each has its own.
    """

    model: LabelShift
    engine: Engine
    origin: Origin
    look: Look
    sharing: int | None

    def rows(self, part: Groups) -> list[Row]:
        """Return the rows of some groups."""
        columns = key_columns(part.by)
        return [
            row
            for group, posterior in self.posteriors(part)
            for row in rows_of_posterior(keys_of(columns, group), posterior, self.look)
        ]

    def posteriors(self, part: Groups) -> Iterator[tuple[Any, Posterior]]:
        """Yield the posterior of each group, whose draws do not depend on the other groups."""
        named = list(part.apart())
        densities = [self.model.density(counts) for _, counts in named]
        origins = [
            replace(self.origin, seed=group_seed(self.origin.seed, group), common_seed=self.origin.seed)
            for group, _ in named
        ]
        drawn = _sample(self.engine, [(density, each.seed) for density, each in zip(densities, origins, strict=True)])
        for number, (group, counts) in enumerate(named):
            draws = replace(drawn[number], run=replace(drawn[number].run, groups_sharing_labels=self.sharing))
            model = self.model.resolved(counts)
            findings = Awaited(partial(of_posterior, counts, model.prior, densities[number], draws))
            yield (
                group,
                Posterior(draws=draws, counts=counts, model=model, findings=findings, origin=origins[number]),
            )

    def redraw(self, groups: Groups, group: Any) -> Posterior:
        """Infer one group again, with the same draws."""
        (part,) = groups.select([group]).parts(1)
        ((_, posterior),) = self.posteriors(part)
        return posterior


def engine_of_groups(engine: Engine) -> Engine:
    """Return the engine with as many draws of each group as it is to have where there are groups."""
    return replace(engine, effective_draws=engine.open_choice_of_many) if isinstance(engine, Auto) else engine


def infer_separately(
    groups: Groups,
    model: LabelShift,
    engine: Engine,
    origin: Origin,
    *,
    executor: Executor,
    output: Output | str | PathLike[str] | None = None,
    look: Look | None = None,
) -> SeparateAnswers:
    """Infer every group by itself, with the workers of an executor; what is kept has the look of the output, if any."""
    require_executor(executor)
    require_separable(model, "executor")
    wanted = output if isinstance(output, Output) or output is None else Output(output)
    look = (look or Look()) if wanted is None else wanted.look
    sharing = len(groups) if groups.shares_labels and len(groups) > 1 else None
    how = Separately(model=model, engine=engine_of_groups(engine), origin=origin, look=look, sharing=sharing)
    size = max(1, CELLS_OF_PIECE // (len(groups.classes) * len(groups.outputs)))
    files = None if wanted is None else _files(groups, how, wanted, size)
    tally, kept = _answered(groups, how, executor, size, files)
    return SeparateAnswers(
        data=groups,
        look=look,
        seed=origin.seed,
        tally=tally,
        path=None if files is None else files.finish(),
        kept=kept,
        redraw=partial(how.redraw, groups),
        of_labels=labels_differ(groups, model.prior),
    )


def sample_by_workers(
    engine: Engine, densities: Sequence[Density], seeds: Sequence[int], executor: Executor
) -> Iterator[tuple[int, Draws | Failure]]:
    """Draw from every posterior by the workers of an executor; yield each problem's number and draws as they come."""
    require_executor(executor)
    cells = max((density.rows.size for density in densities), default=1)
    size = max(1, CELLS_OF_PIECE // cells)
    problems = list(zip(densities, seeds, strict=True))
    pieces = ((start, problems[start : start + size]) for start in range(0, len(problems), size))
    division = Division(executor, partial(_sample, engine), lambda piece: [[problem] for problem in piece])
    for start, found in division.results(pieces):
        flat = [draws for each in found for draws in ([each] if isinstance(each, Failure) else each)]
        yield from enumerate(flat, start)


def _sample(engine: Engine, problems: Sequence[tuple[Density, int]]) -> list[Draws]:
    """Draw from a few posteriors, a stack at a time; a worker has one core."""
    step = max(1, CELLS_AT_ONCE // max(density.rows.size for density, _ in problems))
    found: list[Draws] = []
    for start in range(0, len(problems), step):
        densities, seeds = zip(*problems[start : start + step], strict=True)
        drawn = dict(engine.sample_many(densities, seeds))
        found += [drawn[number] for number in range(len(densities))]
    return found


def _answered(
    groups: Groups, how: Separately, executor: Executor, size: int, files: RowFiles | None
) -> tuple[StatusCounts, Sequence[Row]]:
    """Infer what is not on disk yet; count what is found, and keep the rows where they go to no file."""
    columns, classes = key_columns(groups.by), len(groups.classes)
    tally, kept = StatusCounts(), dict[int, list[Row]]()
    done = frozenset() if files is None else files.begin()
    number_of_parts = -(-len(groups) // size)
    for number in sorted(done):
        tally.add(files.rows(number) if files is not None else (), columns, classes)
    tally.taken_over = tally.status.total()
    if files is not None and files.output.resume:
        left = len(groups) - tally.taken_over
        note(f"{tally.taken_over:,} of {len(groups):,} groups were finished by an earlier run; {left:,} are left.")
    todo = ((number, part) for number, part in enumerate(groups.parts(size)) if number not in done)
    division = Division(executor, how.rows, lambda part: list(part.parts(1)))
    for number, found in track(division.results(todo), total=number_of_parts - len(done)):
        rows = _with_failures(number, found, groups, size)
        tally.add(rows, columns, classes)
        if files is None:
            kept[number] = rows
        else:
            files.add(number, rows)
    return tally, [row for number in sorted(kept) for row in kept[number]]


def _with_failures(number: int, found: Sequence[list[Row] | Failure], groups: Groups, size: int) -> list[Row]:
    """Return the rows of one part; where a group failed, rows that say why."""
    rows: list[Row] = []
    for place, each in enumerate(found):
        if isinstance(each, Failure):
            at = number * size + place
            keys = keys_of(key_columns(groups.by), groups.groups[at])
            rows += rows_of_failure(keys, groups.unlabeled[at], groups.classes, each.message)
        else:
            rows += each
    return rows


def _files(groups: Groups, how: Separately, output: Output, size: int) -> RowFiles:
    """Describe the run, so that only the same one goes on with what it left."""
    columns = key_columns(groups.by)
    output.require_columns(groups.by)
    look = how.look
    run = {
        "data": _fingerprint(groups),
        "groups": len(groups),
        "model": repr(how.model),
        "engine": repr(how.engine),
        "seed": how.origin.seed,
        "summary": [look.level, look.kind, look.target],
        "version": how.origin.version,
    }
    kinds = column_kinds((keys_of(columns, group) for group in groups.groups), columns, groups.classes)
    return RowFiles(output=output, run=run, parts=-(-len(groups) // size), kinds=kinds)


def _fingerprint(groups: Groups) -> str:
    """Return a hash of all that is inferred from, made without a second copy of it."""
    parts = None if groups.combinations is None else groups.combinations.to_dict()
    names = [groups.by, groups.classes, groups.outputs, groups.studies, parts]
    data = sha256(json.dumps(names, default=str).encode())
    for group in groups.groups:
        data.update(json.dumps(keys_of(key_columns(groups.by), group), default=str).encode())
    arrays = [groups.labeled, groups.unlabeled, groups.labeled_squares, groups.unlabeled_squares]
    if (own := groups.clusters) is not None:
        data.update(f"{own.number} clusters in {own.size} bins".encode())
        arrays += [own.bins, own.labeled, own.unlabeled]
    for array in arrays:
        data.update(b"none" if array is None else array.tobytes())
    return data.hexdigest()


def require_executor(executor: object) -> None:
    """Refuse what takes no work."""
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        needed = "it must have submit(), as concurrent.futures.Executor has"
        remedy = "Pass ProcessPoolExecutor(4), or Dask's client.get_executor()"
        raise InputError("executor", f"is {executor!r:.60}", needed, remedy)


def require_separable(model: LabelShift, argument: str) -> None:
    """Refuse a model whose groups are drawn jointly: one density of all groups cannot be divided among workers."""
    for choice in (model.groups, model.confusion):
        if choice is not None:
            found = f"asks for groups one by one, and the model has {type(choice).__name__}()"
            needed = "such groups have one joint density, which is drawn in one process"
            raise InputError(argument, found, needed, "Leave out one of them")
