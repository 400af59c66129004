"""Work is divided among workers; what fails stays by itself, and a worker that dies takes nothing with it."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from made_work import fragile, squares
from truecount._executor import ATTEMPTS, Division, Failure, workers_here
from truecount.errors import InputError


def singles(numbers):
    return [[number] for number in numbers]


def pieces(stop: int, size: int = 5):
    return [(start // size, list(range(start, start + size))) for start in range(0, stop, size)]


def test_every_item_has_a_result_whatever_the_order():
    with ThreadPoolExecutor(3) as threads:
        found = dict(Division(threads, squares, singles).results(pieces(5)))
    assert found == {0: [[0, 1, 4, 9, 16]]}


def test_a_part_that_fails_stands_beside_the_others():
    with ThreadPoolExecutor(2) as threads:
        found = dict(Division(threads, squares, singles).results(pieces(10)))
    assert found[0] == [[0, 1, 4, 9, 16]]
    assert found[1] == [[25], [36], Failure("KeyError: 'seven'"), [64], [81]]


def test_bad_input_is_tried_once_and_other_errors_a_few_times():
    tried = []

    def refuse(numbers):
        tried.append(tuple(numbers))
        raise InputError("n", "is bad", "it must be good", "Fix it") if 1 in numbers else RuntimeError("odd")

    with ThreadPoolExecutor(1) as thread:
        ((_, found),) = Division(thread, refuse, singles).results([(0, [1, 2])])
    assert [each.message for each in found] == ["n is bad: it must be good. Fix it.", "RuntimeError: odd"]
    assert (tried.count((1,)), tried.count((2,))) == (1, ATTEMPTS)


def test_few_pieces_are_under_way_at_once():
    handed = []
    with ThreadPoolExecutor(2) as threads:
        items = ((number, handed.append(number) or [number]) for number in range(50, 100))
        next(results := Division(threads, squares, singles).results(items))
        assert len(handed) <= 2 * 2 + 1
        results.close()


@pytest.mark.slow
def test_a_worker_that_dies_loses_nothing(tmp_path):
    def split(piece):
        return [(piece[0], [number]) for number in piece[1]]

    with workers_here(2) as processes:
        items = [(number, (str(tmp_path), numbers)) for number, numbers in pieces(30)]
        found = dict(Division(processes, fragile, split).results(items))
    assert (tmp_path / "seen").exists()
    assert found == {number: [[each * each for each in numbers]] for number, numbers in pieces(30)}


@pytest.mark.slow
def test_what_kills_every_worker_is_a_failure_and_the_rest_is_there():
    with workers_here(2) as processes:
        found = dict(Division(processes, squares, singles).results([(0, [10, 11]), (1, [12, 13]), (2, [14])]))
    assert found == {0: [[100, 121]], 1: [[144], Failure(f"the worker died {ATTEMPTS} times")], 2: [[196]]}


class Broken(Executor):
    """An executor that no longer takes work, and that nobody can start again."""

    def submit(self, *_):
        raise BrokenProcessPool("gone")


def test_an_executor_that_cannot_be_started_again_is_refused():
    with pytest.raises(InputError, match=r"executor is broken \(gone\): it takes no more work"):
        list(Division(Broken(), squares, singles).results([(0, [1])]))


class Cancelling(Executor):
    """An executor whose first piece is cancelled, as a cluster may do."""

    def __init__(self):
        self.calls = 0

    def submit(self, work, item):
        self.calls += 1
        future = Future()
        if self.calls == 1:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(work(item))
        return future


def test_what_was_cancelled_is_tried_again():
    assert list(Division(Cancelling(), squares, singles).results([(0, [2, 3])])) == [(0, [[4], [9]])]
