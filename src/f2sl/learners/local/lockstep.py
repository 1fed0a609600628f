"""Run many searches side by side and ask their questions together.

A learner's algorithm for one target is a *search*: a generator that yields lists of :class:`Questions`, is
sent the list of their answers, and returns its result. In this form an algorithm reads as in its paper and
knows nothing about other targets. :func:`together` joins many searches into one, which advance in step, and
:func:`answer_all` answers its questions: all of one size in one batch, large enough to spread over threads.

The result of a search does not depend on other searches, and so not on the number of threads.

Examples
--------
>>> def independent_of(target, other):
...     [answers] = yield [Questions(np.array([target]), np.array([other]), np.empty((1, 0), np.int64))]
...     return bool(answers.answer[0] == INDEPENDENT)
>>> from f2sl.data.memory.engine import MemoryEngine
>>> from f2sl import open_table
>>> from f2sl.stats.answers import INDEPENDENT
>>> table = open_table({"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [1, 1, 0, 0] * 9})
>>> from f2sl.stats.choose import make_test
>>> with MemoryEngine(table, n_jobs=1) as engine:
...     answer_all(together([independent_of(0, 1), independent_of(0, 2)]), make_test(engine, 0.01))
[True, False]
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from f2sl._arrays import Floats, Integers, Mask
from f2sl._deadline import checkpoint
from f2sl.constraints import Constraints
from f2sl.stats.answers import DEPENDENT, Answers, IndependenceTest

Result = TypeVar("Result")
Other = TypeVar("Other")
Question = TypeVar("Question")
Answer = TypeVar("Answer")

QUESTIONS_PER_BATCH = 1 << 18
SEARCHES_AT_ONCE = 512
"""More of them would need more memory for their questions, and larger batches gain nothing."""


class Questions(NamedTuple):
    """Is x independent of y given z? One row of `given` for each x and y, all of one size.

    Strengths of `enough` or more need not be computed; None if all are needed.
    """

    x: Integers
    y: Integers
    given: Integers
    enough: Floats | None = None


Search = Generator[list[Questions], list["Answers"], Result]


def together(
    searches: Iterable[Generator[list[Question], list[Answer], Result]], at_once: int = SEARCHES_AT_ONCE
) -> Generator[list[Question], list[Answer], list[Result]]:
    """Join searches into one that asks their questions together, and gives their results in order.

    Questions may be of any type, as long as each has an answer.
    """
    results: dict[int, Result] = {}
    waiting = enumerate(searches)
    running: list[tuple[int, Generator[list[Question], list[Answer], Result], list[Question]]] = []

    def go_on(
        number: int,
        search: Generator[list[Question], list[Answer], Result],
        answers: list[Answer] | None,
    ) -> None:
        try:
            asked = next(search) if answers is None else search.send(answers)
        except StopIteration as end:
            results[number] = end.value
        else:
            still.append((number, search, asked))

    while True:
        still: list[tuple[int, Generator[list[Question], list[Answer], Result], list[Question]]] = []
        if running:
            answers = yield [questions for _, _, asked in running for questions in asked]
            position = 0
            for number, search, asked in running:
                go_on(number, search, answers[position : position + len(asked)])
                position += len(asked)
        while len(still) < at_once and (new := next(waiting, None)) is not None:
            go_on(*new, None)
        running = still
        if not running:
            return [results[number] for number in range(len(results))]


def side_by_side(one: Search[Result], other: Search[Other]) -> Search[tuple[Result, Other]]:
    """Join two searches of different kinds into one."""
    first: Result
    second: Other
    both: Iterable[Search[Any]] = (one, other)
    first, second = yield from together(both)
    return first, second


def knowing(search: Search[Result], rules: Constraints) -> Search[Result]:
    """Wrap a search so that required edges are always dependent; other questions are unchanged.

    The strength of such an edge is that of the marginal test; with a conditioning set it is infinite.
    """
    try:
        asked = next(search)
        while True:
            resolved = [rules.requires_adjacency(one.x, one.y) for one in asked]
            rest = [_without(*one) for one in zip(asked, resolved, strict=True)]
            answers = yield rest
            asked = search.send([_known(*one) for one in zip(answers, resolved, strict=True)])
    except StopIteration as end:
        result: Result = end.value
        return result


def _without(asked: Questions, resolved: Mask) -> Questions:
    """Leave out questions about required edges, unless nothing is given."""
    if not asked.given.shape[1] or not resolved.any():
        return asked
    left = ~resolved
    enough = None if asked.enough is None else asked.enough[left]
    return Questions(asked.x[left], asked.y[left], asked.given[left], enough)


def _known(answers: Answers, resolved: Mask) -> Answers:
    """Insert the answer "dependent" for required edges."""
    if not resolved.any():
        return answers
    if len(answers.answer) == len(resolved):
        strength = np.where(resolved, np.nan_to_num(answers.strength), answers.strength)
        answer = np.where(resolved, DEPENDENT, answers.answer).astype(np.int8)
        return answers._replace(answer=answer, strength=strength)
    whole = Answers(
        np.full(len(resolved), DEPENDENT, np.int8),
        np.zeros(len(resolved)),
        np.full(len(resolved), np.inf),
        np.full(len(resolved), np.inf),
    )
    columns: Iterable[tuple[Any, Any]] = zip(whole, answers, strict=True)
    for column, asked in columns:
        column[~resolved] = asked
    return whole


def answer_all(search: Search[Result], test: IndependenceTest) -> Result:
    """Run a search to its end, asking `test`."""
    try:
        questions = next(search)
        while True:
            checkpoint()
            questions = search.send(_ask(questions, test))
    except StopIteration as end:
        result: Result = end.value
        return result


def _ask(questions: Sequence[Questions], test: IndependenceTest) -> list[Answers]:
    """Answer all questions, those of one size in one batch."""
    answers: dict[int, Answers] = {}
    by_size: dict[int, list[int]] = {}
    for number, asked in enumerate(questions):
        by_size.setdefault(asked.given.shape[1], []).append(number)
    for numbers in by_size.values():
        batch: list[int] = []
        load = 0
        for number in numbers:
            batch.append(number)
            load += len(questions[number].x)
            if load >= QUESTIONS_PER_BATCH or number == numbers[-1]:
                answers.update(zip(batch, _ask_batch([questions[n] for n in batch], test), strict=True))
                batch, load = [], 0
    return [answers[number] for number in range(len(questions))]


def _ask_batch(questions: list[Questions], test: IndependenceTest) -> list[Answers]:
    if len(questions) == 1:
        return [test.ask(*questions[0])]
    x, y, given = (np.concatenate([asked[part] for asked in questions]) for part in range(3))
    whole = test.ask(x, y, given, _enough_for_all(questions))
    ends = np.cumsum([len(asked.x) for asked in questions]).tolist()
    return [whole.part(first, last) for first, last in zip([0, *ends], ends, strict=False)]


def _enough_for_all(questions: list[Questions]) -> Floats | None:
    if all(asked.enough is None for asked in questions):
        return None
    return np.concatenate(
        [np.full(len(asked.x), np.inf) if asked.enough is None else asked.enough for asked in questions]
    )
