"""Threads: results in order, and nobody waits for a piece that is no longer wanted."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from f2sl._deadline import Deadline, TimeUp, checkpoint, keeping, limited
from f2sl._threads import AHEAD, LONG_CALL, Threads, interruptibly, unfinished_calls

LONG = 60.0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_order_and_pieces_are_made_as_needed(n_jobs):
    made = []

    def pieces():
        for piece in range(100):
            made.append(piece)
            yield piece

    with Threads(n_jobs) as threads:
        results = threads.map(lambda piece: piece * piece, pieces())
        assert next(results) == 0
        assert len(made) <= AHEAD * n_jobs + 1
        assert list(results) == [piece * piece for piece in range(1, 100)]


def test_an_error_in_a_piece_is_raised():
    with Threads(2) as threads, pytest.raises(ZeroDivisionError):
        list(threads.map(lambda piece: 1 // piece, [1, 0, 1]))


def test_a_piece_may_have_pieces_of_its_own():
    with Threads(1) as threads:
        assert list(threads.map(lambda n: sum(threads.map(abs, [-n, n])), [1, 2])) == [2, 4]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pieces_that_have_begun_are_not_waited_for(n_jobs):
    released, begun = threading.Event(), []

    def work(piece):
        begun.append(piece)
        if piece:
            released.wait(LONG)

    with pytest.raises(KeyboardInterrupt), Threads(n_jobs) as threads:
        for _ in threads.map(work, range(10)):
            raise KeyboardInterrupt
    assert not released.is_set()
    assert len(begun) <= 1 + n_jobs
    released.set()
    for thread in threading.enumerate():
        if thread.name.startswith("f2sl_"):
            thread.join(LONG)
    assert len(begun) <= 1 + n_jobs  # the others were dropped


def test_the_time_limit_is_noticed_during_a_piece():
    released = threading.Event()
    with Threads(1) as threads, limited(Deadline(0.05)), pytest.raises(TimeUp):
        list(threads.map(lambda piece: released.wait(LONG), [0]))
    assert not released.is_set()
    released.set()


def test_the_time_limit_is_noticed_during_a_long_call():
    released = threading.Event()
    with limited(Deadline(0.05)), pytest.raises(TimeUp):
        interruptibly(lambda array: released.wait(LONG), np.empty(LONG_CALL))
    assert not released.is_set()
    assert unfinished_calls()
    released.set()


def test_a_long_call_returns_what_the_function_does():
    assert interruptibly(np.sum, np.ones(LONG_CALL)) == LONG_CALL
    with pytest.raises(np.linalg.LinAlgError):
        interruptibly(np.linalg.inv, np.zeros((1 << 10, 1 << 10)))


def test_the_process_ends_while_a_piece_is_worked_on():
    script = f"""
import time
from f2sl._threads import Threads
threads = Threads(1)
for _ in threads.map(lambda piece: time.sleep({LONG} * piece), [0, 1]):
    raise KeyboardInterrupt
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=LONG / 2, check=False)
    assert done.stderr.rstrip().endswith(b"KeyboardInterrupt")


# The time limit


def test_a_block_ends_early_and_the_deadline_knows():
    deadline = Deadline(1e-9)
    with limited(deadline):
        with keeping("nothing"):
            pass
        assert not deadline.stopped
        with keeping("the rest"):
            checkpoint()
        assert (deadline.undone, deadline.interrupted) == ("the rest", False)
        checkpoint()  # is silent from then on
        with pytest.raises(KeyboardInterrupt), keeping("more"):  # a second Ctrl-C
            raise KeyboardInterrupt


def test_without_a_deadline_or_a_result_nothing_is_caught():
    with pytest.raises(KeyboardInterrupt), keeping("the rest"):
        raise KeyboardInterrupt
    with pytest.raises(TimeUp), limited(Deadline(1e-9)), keeping("the rest", lambda: False):
        checkpoint()
