"""Explain why two variables are adjacent in a learned graph, or are not.

A fitted learner stores its decisions: neighbors, separating sets and v-structures. It does not store the
numbers behind them, which would slow down learning. This module computes them again from the same data, for
the one pair in question. Without data, it reports only the stored facts.

===============  ========================================================================================
kind             of an edge
===============  ========================================================================================
strength         its weight in the graph
relevance        what the pair shares, against the threshold (FCBF)
redundancy       the stronger neighbor that came nearest to replacing it (FCBF)
test             the weakest test that it survived
score            the loss in log score without it, or with it reversed
direction        what directed it: knowledge, a v-structure, a rule, the score, or nothing but the names
weak             why this direction is only weakly decided
===============  ========================================================================================

A missing edge has ``knowledge``, ``relevance``, ``redundancy``, ``separated``, ``inconclusive``, ``symmetry``
(the other end does not name it), ``score``, ``weight`` or ``alias`` instead, and ``unknown`` where a learner
keeps no reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from f2sl._arrays import Integers
from f2sl._notes import joined, left_out
from f2sl.constraints import Constraints
from f2sl.data.column import DISCRETE
from f2sl.data.engines import open_engine
from f2sl.data.open import open_for
from f2sl.data.table import Table
from f2sl.data.transform import as_scores
from f2sl.errors import DataError, OptionError, unknown_name
from f2sl.graph import DAG, PDAG, apply_meek_rules
from f2sl.learners.by_best_networks import SLLc, SLLg
from f2sl.learners.f2sl_h import F2SLh
from f2sl.learners.ggsl import GGSL
from f2sl.learners.gsbn import GSBN
from f2sl.learners.local.confirmed import ConfirmedFCBF
from f2sl.learners.local.fcbf import FCBF
from f2sl.learners.pc_stable import PCStable
from f2sl.learners.skeleton import from_edges
from f2sl.learners.tc import TC, spouse_tests
from f2sl.learners.v_structures import pattern_of
from f2sl.stats.answers import DEPENDENT, INCONCLUSIVE, INDEPENDENT, IndependenceTest, reliable_subsets
from f2sl.stats.choose import make_score, make_test, resolve_auto
from f2sl.stats.conditioning import given_all_others
from f2sl.stats.tests.fisher_z import z_answers
from f2sl.view.explanation import (
    Explanation,
    Reason,
    answer_in_words,
    change_of,
    listed,
    numbers_in_words,
    p_in_words,
)
from f2sl.view.selection import Selection

MOST_TESTS = 50_000
"""Largest number of subsets of the neighbors to search for the weakest test of one edge."""
MOST_EXPLAINED, LEAST_EXPLAINED, MOST_ROWS = 1_000, 200, 100_000_000
"""Largest number of pairs that a page explains, within bounds by the total number of rows."""
MANY = 20
"""Pairs from which on a search of all pairs is quicker than one for each of them."""
BY_BEST_NETWORKS = (SLLc, SLLg, GGSL)
EQUIVALENT = ("bdeu", "bic", "aic", "bge", "bic-g")
"""Scores that cannot tell equivalent DAGs apart."""


def explain(model: Any, a: str, b: str, data: Any = None, **reading: Any) -> Explanation:
    """Explain one pair of a fitted learner; see ``explain`` of the learners."""
    check_pair(model.graph_.nodes, a, b, model.notes_)
    if data is None:
        return Explainer(model).explain(a, b)
    with ExitStack() as own:
        learned = model.graph_.read_as
        table = open_for(model._takes, type(model).__name__, data, model.n_jobs, learned=learned, **reading)
        if not isinstance(data, Table):
            own.enter_context(table)
        return explain_all(model, [(a, b)], table)[a, b]


def explain_all(
    model: Any, pairs: Sequence[tuple[str, str]], table: Table
) -> dict[tuple[str, str], Explanation]:
    """Explain some pairs from the open table that a learner has learned from."""
    if not is_learned_from(model, table):
        raise DataError(
            f"not the data that the graph was learned from: they have {table.n_variables:,} columns and "
            f"{table.n_rows:,} rows, and the learner saw {model.n_features_in_:,} columns and "
            f"{model.n_rows_:,} rows, or columns of other names or kinds; read them with the same options"
        )
    if hasattr(model, "weights_"):  # these reasons need no data
        explainer = Explainer(model)
        return {pair: explainer.explain(*pair) for pair in pairs}
    with ExitStack() as own:
        ordered = own.enter_context(as_scores(table, model.transformed_, model.n_jobs)).in_name_order()
        engine = own.enter_context(open_engine(ordered, model.n_jobs))
        explainer = Explainer(model, ordered, engine, many=len(pairs) > MANY)
        return {pair: explainer.explain(*pair) for pair in pairs}


def explained_pairs(
    model: Any, table: Table | None, truth: PDAG | None = None
) -> dict[tuple[str, str], Explanation]:
    """Explain pairs for the page: all, or if there are too many, the most interesting ones.

    These are the edges, then the edges of the truth that are missing, then pairs with a common neighbor.
    Without a table, only the facts stored in the learner are reported.
    """
    graph = model.graph_
    rows = 1 if table is None else table.n_rows
    most = min(MOST_EXPLAINED, max(MOST_ROWS // max(1, rows), LEAST_EXPLAINED))
    pairs: Iterable[tuple[str, str]] = combinations(graph.nodes, 2)
    if graph.n_nodes * (graph.n_nodes - 1) // 2 > most:
        missing = () if truth is None else (*truth.directed_edges, *truth.undirected_edges)
        near = (pair for name in graph.nodes for pair in combinations(graph.neighbors(name), 2))
        pairs = chain(graph.directed_edges, graph.undirected_edges, missing, near)
    chosen = list(islice({frozenset(pair): pair for pair in pairs}.values(), most))
    if table is None:
        explainer = Explainer(model)
        return {pair: explainer.explain(*pair) for pair in chosen}
    return explain_all(model, chosen, table)


def is_learned_from(model: Any, table: Table) -> bool:
    """Return whether a learner may have learned from a table, by its columns and its number of rows."""
    try:
        resolve_auto(model.options_in_use_, table.kind)  # "auto" is resolved already
    except OptionError:
        return False
    names = sorted(model.feature_names_in_)
    return table.kind in model._takes and sorted(table.names) == names and table.n_rows == model.n_rows_


def check_pair(names: Sequence[str], a: str, b: str, notes: Iterable[str]) -> None:
    """Raise an error for unknown names, each with the nearest known one or why it was left out."""
    gone, asked = left_out(notes), dict.fromkeys((a, b))
    wrong = [unknown_name("variable", name, names, gone.get(name)) for name in asked if name not in names]
    if wrong:
        raise DataError(joined(wrong))
    if a == b:
        raise DataError(f"two variables are needed, and both names are {a!r}")


class Explainer:
    """Explains pairs of one fitted learner; variables are numbers in the order of their names."""

    def __init__(
        self, model: Any, table: Table | None = None, engine: Any = None, many: bool = False
    ) -> None:
        self.model, self.graph = model, model.graph_ if model.graph_.dag is None else model.graph_.dag
        self.table, self.engine = table, engine
        self.names = tuple(sorted(model.feature_names_in_.tolist()))
        self.number = {name: v for v, name in enumerate(self.names)}
        self.arrows = set(self.graph.directed_edges)
        self.shown = set(model.graph_.directed_edges)
        # A search that grows parents among all variables ignores neighborhoods, so they explain nothing.
        grown = getattr(model, "grows_parents_", False)
        self.local: Any = None if grown else getattr(model, "local_learner_", None)
        self._by_tests = self.local is not None and self.local.makes_tests
        self.skeleton = None if grown else getattr(model, "skeleton_", None)
        self.unit = "" if model.strength_unit == "strength" else f" {model.strength_unit}"
        self.near: Any = None if grown else getattr(model, "pc_", None) or getattr(model, "blankets_", None)
        self.rules = Constraints.none(len(self.names))
        if model.knowledge:
            self.rules = model.knowledge.constraints(self.names)
            self.bound = model.knowledge._bound(self.names)[0]
        self._selection: Selection | None = None
        if engine is not None and isinstance(self.local, (FCBF, ConfirmedFCBF)):
            near: Any = self.near
            how = self.names, self.rules, near, self._largest_p, self._facts, many
            self._selection = Selection(self.local, engine, *how)

    def explain(self, a: str, b: str) -> Explanation:
        """Explain one pair."""
        adjacent = b in self.graph.neighbors(a)
        edge = None
        if adjacent:
            edge = f"{a} - {b}"
            edge = f"{a} -> {b}" if (a, b) in self.shown else f"{b} -> {a}" if (b, a) in self.shown else edge
        if a not in self.number or b not in self.number:
            reasons = iter(self._of_alias(a, b))
        elif adjacent:
            reasons = self._of_edge(*((b, a) if (b, a) in self.arrows else (a, b)))
        else:
            reasons = iter(self._of_no_edge(*sorted((a, b))))
        return Explanation(a, b, edge, tuple(reasons))

    # -- an edge -----------------------------------------------------------------------

    def _of_edge(self, a: str, b: str) -> Iterator[Reason]:
        weights = self.graph.weights or {}
        strength = weights.get((a, b), weights.get((b, a)))
        if strength is not None:
            yield Reason("strength", f"strength {strength:.4g}{self.unit}", {"strength": strength})
        u, v = self.number[a], self.number[b]
        if self.rules.requires_adjacency(np.array([u]), np.array([v]))[0]:
            yield Reason("knowledge", "the knowledge requires it")
        if self.engine is not None:
            if self._selection is not None:
                yield from self._selection.reasons(u, v, adjacent=True)
            yield from self._weakest_test(u, v)
            if isinstance(self.model, BY_BEST_NETWORKS) or (self._has_score and (a, b) in self.arrows):
                yield from self._score_of_edge(*((u, v) if a in self._dag.parents(b) else (v, u)))
        if self.near is not None and (a in self.near[b]) != (b in self.near[a]):
            by, other = (a, b) if b in self.near[a] else (b, a)
            yield Reason("symmetry", f"only {by} names {other}, which is enough", {"named_by": by})
        yield self._direction(a, b)
        if (a, b) in self.model.graph_.weak:
            why = self.model.weakly_decided_[a, b]
            yield Reason("weak", f"this direction is only weakly decided: {why}")

    def _weakest_test(self, u: int, v: int) -> Iterator[Reason]:
        """Find the weakest of the tests that an edge has survived among the neighbors it ended up with."""
        a, b = self.names[u], self.names[v]
        low, high = min(u, v), max(u, v)
        if isinstance(self.model, PCStable):
            around = [self._numbers(self.model.skeleton_.neighbors(name), u, v) for name in (a, b)]
        elif self._by_tests:
            around = [self._numbers(self.near[x], u, v) for x, y in ((a, b), (b, a)) if y in self.near[x]]
        elif isinstance(self.model, GSBN):
            both = [self._numbers(self.near[self.names[w]], u, v) for w in (low, high)]
            around = [min(both, key=len)]
        elif isinstance(self.model, TC):
            facts = self._given_all_others(u, v)[1]
            yield Reason("test", f"correlated {self._in_words_of_tc(facts)}", {**facts, "n_tests": 1})
            spouses = spouse_tests(self._blankets, low, high, self.model.max_left_out)
            if not (evidence := self._weakest_of(self._test, low, high, list(islice(spouses, MOST_TESTS)))):
                return
            answer, facts, n_tests = evidence
            text = f"survived {n_tests:,} tests for spouses, the weakest: {answer_in_words(facts)}"
            yield Reason("test", text, {**facts, "n_tests": n_tests})
            return
        else:
            if isinstance(self.model, F2SLh) and self.near is not None:
                yield from self._joined(a, b)
            return
        most = getattr(self.local or self.model, "max_cond_vars", None)
        evidence = self._largest_p(self._test, low, high, around, most)
        if evidence is None:
            yield Reason("test", "all tests of it were inconclusive (too few samples)")
            return
        answer, facts, n_tests = evidence
        words = "a test finds them independent"
        if answer == DEPENDENT:
            words = f"survived {n_tests:,} tests given its neighbors, the weakest"
        text = f"{words}: {answer_in_words(facts)}"
        yield Reason("test", text, {**facts, "n_tests": n_tests})

    def _joined(self, a: str, b: str) -> Iterator[Reason]:
        """Return the test of an edge a -> b between two variables that did not name each other at first."""
        if a in self.near[b] or b in self.near[a]:
            return
        given = self._numbers(self.graph.parents(b), self.number[a]).tolist()
        answer, facts = self._ask(self.number[a], self.number[b], given)
        if answer == DEPENDENT:
            text = f"joined the candidates after a first search: {answer_in_words(facts)}"
            yield Reason("test", text, facts)

    def _largest_p(
        self, test: IndependenceTest, u: int, v: int, around: list[Integers], most: int | None, least: int = 0
    ) -> tuple[int, dict[str, Any], int] | None:
        """Find the test of two variables, given subsets of some neighborhoods, with the largest p-value."""
        seen: dict[tuple[int, ...], None] = {}
        limit = max(map(len, around), default=0)
        for size in range(least, 1 + (limit if most is None else min(limit, most))):
            new = [
                tuple(row)
                for some in around
                for part in reliable_subsets(test, u, v, np.sort(some), size)
                for row in part.tolist()
            ]
            if len(seen) + len(new) > MOST_TESTS:
                break
            seen.update(dict.fromkeys(new))
        return self._weakest_of(test, u, v, list(seen))

    def _weakest_of(
        self, test: IndependenceTest, u: int, v: int, seen: Sequence[tuple[int, ...]]
    ) -> tuple[int, dict[str, Any], int] | None:
        """Test two variables given each of some sets; return the answer with the largest p-value."""
        best: tuple[float, tuple[int, ...], Any] | None = None
        for size in sorted({len(given) for given in seen}):
            chosen = [given for given in seen if len(given) == size]
            rows = np.array(chosen, np.int64).reshape(len(chosen), size)
            asked = test.ask(np.full(len(rows), u), np.full(len(rows), v), rows)
            strengths = np.where(asked.answer == INCONCLUSIVE, np.inf, asked.strength)
            position = int(np.argmin(strengths))
            if np.isfinite(strengths[position]) and (best is None or strengths[position] < best[0]):
                best = (
                    float(strengths[position]),
                    tuple(rows[position].tolist()),
                    asked.part(position, position + 1),
                )
        if best is None:
            return None
        _, given, answers = best
        return int(answers.answer[0]), self._facts(answers, u, v, given), len(seen)

    def _score_of_edge(self, u: int, v: int) -> Iterator[Reason]:
        """Return the loss in score without u -> v, and with v -> u instead."""
        with_it, without = self._family(v), self._family(v, drop=u)
        other, other_with = self._family(u), self._family(u, add=v)
        values = self._score.score([with_it, without, other, other_with])
        lost = float(values[0] - values[1]) + self._per_edge
        turned = float(values[1] + values[3] - values[0] - values[2])
        cycle = self._path(u, v, direct=False)
        text = f"without it the log score is {change_of(-lost)}; with it alone reversed, {change_of(turned)}"
        text = text if isinstance(self.graph, DAG) else f"in a DAG of this graph, {text}"
        text += ", and the graph would have a cycle" if cycle else ""
        yield Reason(
            "score", text, {"loss_without": lost, "change_reversed": turned, "cycle_reversed": cycle}
        )

    # -- directions --------------------------------------------------------------------

    def _direction(self, a: str, b: str) -> Reason:
        directed = (a, b) in self.arrows
        u, v = self.number[a], self.number[b]
        if directed and not self.rules.allows(np.array([v]), np.array([u]))[0]:
            why = self.bound.against((v, u))
            return _direction("knowledge", f"directed by the knowledge: {b} -> {a} is not allowed ({why})")
        if hasattr(self.model, "weights_"):
            return _direction("weight", "directed by the weights, which differ by direction")
        if isinstance(self.graph, DAG):
            return self._by_score(a, b)
        if not hasattr(self.model, "v_structures_"):
            return _direction("none", "not directed" if not directed else "directed as the learner has it")
        if not directed:
            claims = [(c, x, y) for x, c, y in self.model.v_structures_ if {c} & {a, b} and {x, y} & {a, b}]
            text = "not directed: no v-structure, rule or knowledge decides"
            return _direction("none", text + (", as v-structures contradict each other" if claims else ""))
        pattern, rules = self._replayed
        if (a, b) in pattern:
            others = [y if x == a else x for x, c, y in self.model.v_structures_ if c == b and a in (x, y)]
            evidence = "; ".join(f"{a} -> {b} <- {other}{self._evidence(a, b, other)}" for other in others)
            lost = [f"{other} -> {b}" for other in others if (other, b) not in self.arrows]
            evidence += f"; other decisions contradict {listed(lost)}" if lost else ""
            return _direction("v-structure", f"directed by v-structure: {evidence}", others=others)
        if (a, b) in rules:
            text = f"directed by Meek's rule {rules[a, b]}: {RULES[rules[a, b]].format(a=a, b=b)}"
            return _direction("meek", text, rule=rules[a, b])
        if isinstance(self.model, GSBN) and self._path(u, v, direct=False):
            return _direction("path", f"directed along another path from {a} to {b}")
        return _direction("rules", "follows from other directions by rules")

    @cached_property
    def _replayed(self) -> tuple[set[tuple[str, str]], dict[tuple[str, str], int]]:
        """Orient once more: the arrows of v-structures and knowledge, and the rule of each other arrow."""
        number = self.number
        pairs = sorted(sorted((number[a], number[b])) for a, b in self.model.skeleton_.undirected_edges)
        edges = np.array(pairs, np.int64).reshape(-1, 2)
        skeleton = from_edges(len(self.names), edges, np.zeros(len(edges)))
        found = [[number[name] for name in triple] for triple in self.model.v_structures_]
        triples = np.array(found, np.int64).reshape(-1, 3)
        pattern = pattern_of(skeleton, self.names, triples, self.rules)
        rules: dict[tuple[str, str], int] = {}
        apply_meek_rules(pattern, rules)
        return set(pattern.directed_edges), rules

    def _evidence(self, a: str, c: str, d: str) -> str:
        """Return the two tests that show a v-structure, if known."""
        given = (getattr(self.model, "separating_sets_", None) or {}).get((min(a, d), max(a, d)))
        if given is None or c in given or self.engine is None:
            return ""
        ends = self.number[a], self.number[d]
        evidence = []
        for names, wanted in ((given, INDEPENDENT), ((*given, c), DEPENDENT)):
            answer, facts = self._ask(*ends, [self.number[name] for name in names])
            if answer == wanted:
                evidence.append(f"{p_in_words(facts['p_value'])} given {listed(names)}")
        return f" ({a} and {d}: {', '.join(evidence)})" if evidence else ""

    def _by_score(self, a: str, b: str) -> Reason:
        if (a, b) in self.shown:
            return _direction("score", "directed by the score: all equivalent DAGs have this direction")
        name = self.model.options_in_use_.get("score")
        gaps = self.table is not None and bool(self.table.missing.any())
        if name in EQUIVALENT and not gaps:
            text = f"directed by nothing in the data: DAGs with {a} -> {b} and {b} -> {a} have the same score"
            return _direction("names", text + "; the search and the order of the names chose the first")
        text = f"{a} -> {b} by the search: a DAG with the same independences has {b} -> {a}"
        return _direction("search", text + ", whose score may differ a little")

    # -- no edge -----------------------------------------------------------------------

    def _of_no_edge(self, a: str, b: str) -> list[Reason]:
        u, v = self.number[a], self.number[b]
        if not self.rules.allows_adjacency(np.array([u]), np.array([v]))[0]:
            there, back = self.bound.against((u, v)), self.bound.against((v, u))
            text = f"the knowledge forbids it: {a} -> {b} ({there}), {b} -> {a} ({back})"
            return [Reason("knowledge", text)]
        found: list[Reason] = []
        if hasattr(self.model, "weights_"):
            found += self._below_weights(a, b)
        if self._has_score and (self.skeleton is None or b in self.skeleton.neighbors(a)):
            found += [*self._separated_by_parents(u, v), *self._left_out(u, v, "left out by the log score")]
        elif self.skeleton is not None and b in self.skeleton.neighbors(a):
            found.append(Reason("knowledge", "left out: the knowledge directs it into a cycle"))
        else:
            found += self._not_in_skeleton(u, v)
        if not found and self.near is not None:
            found.append(Reason("symmetry", "neither names the other", {"named_by": None}))
        if isinstance(self.model, BY_BEST_NETWORKS) and self.engine is not None:
            where = "" if isinstance(self.graph, DAG) else "in a DAG of this graph, "
            found += self._left_out(u, v, f"{where}the log score changes")
        return found or [Reason("unknown", "the learner stores no reason for it")]

    def _not_in_skeleton(self, u: int, v: int) -> Iterator[Reason]:
        a, b = self.names[u], self.names[v]
        if self._selection is not None:
            yield from self._selection.reasons(u, v, adjacent=False)
        given = (getattr(self.model, "separating_sets_", None) or {}).get((a, b))
        named = [x for x, y in ((a, b), (b, a)) if self.near is not None and y in self.near[x]]
        if given is not None:
            facts: dict[str, Any] = {"given": list(given)}
            text = f"separated given {listed(given)}"
            if self.engine is not None:
                facts = self._ask(u, v, [self.number[name] for name in given])[1]
                text = f"separated: {answer_in_words(facts)}"
            yield Reason("separated", text, facts)
        elif self.engine is not None and isinstance(self.model, TC) and not named:
            answer, facts = self._given_all_others(u, v)
            if answer == INDEPENDENT:
                yield Reason("separated", f"separated: {self._in_words_of_tc(facts)}", facts)
        elif self.engine is not None and self._by_tests and not named:
            alone = self._test.answer(np.array([u]), np.array([v]), np.empty((1, 0), np.int64))
            if alone[0] == INCONCLUSIVE:
                yield Reason("inconclusive", "not admitted: too few samples for a test of the pair")
        if len(named) == 1:
            other = b if named[0] == a else a
            text = f"{named[0]} names {other}, but {other} does not name {named[0]}: both must"
            yield Reason("symmetry", text, {"named_by": named[0]})

    def _left_out(self, u: int, v: int, words: str) -> Iterator[Reason]:
        """Return the gain in score from either arrow."""
        if self.engine is None:
            yield Reason("score", "left out by the score")
            return
        evidence, facts = [], {}
        for x, y in ((u, v), (v, u)):
            before, after = self._score.score([self._family(y), self._family(y, add=x)])
            change, arrow = float(after - before) + self._per_edge, f"{self.names[x]} -> {self.names[y]}"
            facts[arrow] = change
            result = "would close a cycle" if self._path(y, x) else f"makes it {change_of(change)}"
            evidence.append(f"{arrow} {result}")
        yield Reason("score", f"{words}: {'; '.join(evidence)}", {"changes": facts})

    def _separated_by_parents(self, u: int, v: int) -> Iterator[Reason]:
        """Test two variables given the parents of the one that is not an ancestor of the other."""
        if self.engine is None:
            return
        families = [self._family(x)[1] for x, y in ((u, v), (v, u)) if not self._path(x, y)]
        answer, facts = self._ask(u, v, min(families, key=len))
        if answer == INDEPENDENT:
            yield Reason("separated", f"separated: {answer_in_words(facts)}", facts)

    def _below_weights(self, a: str, b: str) -> Iterator[Reason]:
        position = self.model.feature_names_in_.tolist().index
        there = float(self.model.weights_[position(a), position(b)])
        back = float(self.model.weights_[position(b), position(a)])
        least = self.model.threshold_
        text = f"weights {there:.4g} ({a} -> {b}) and {back:.4g} ({b} -> {a}) are below {least:.4g}"
        yield Reason("weight", text, {"weights": [there, back], "threshold": least})

    def _of_alias(self, a: str, b: str) -> list[Reason]:
        alias, other = (a, b) if a not in self.number else (b, a)
        [owner] = self.graph.neighbors(alias)
        text = f"{alias} and {owner} determine each other one to one, and {owner} was learned from for both"
        return [Reason("alias", text if other == owner else f"{text}: ask about {owner}", {"owner": owner})]

    # -- what is asked of the data -----------------------------------------------------

    @cached_property
    def _test(self) -> IndependenceTest:
        if self._by_tests:
            test: IndependenceTest = self.local._test(self.engine)
            return test
        return self._of_model

    @cached_property
    def _of_model(self) -> IndependenceTest:
        alpha, ci_test = getattr(self.model, "alpha", 0.01), getattr(self.model, "ci_test", "auto")
        return make_test(self.engine, alpha, ci_test)

    def _ask(self, u: int, v: int, given: Sequence[int]) -> tuple[int, dict[str, Any]]:
        rows = np.array([given], np.int64).reshape(1, len(given))
        asked = self._of_model.ask(np.array([u]), np.array([v]), rows)
        return int(asked.answer[0]), self._facts(asked, u, v, given)

    def _facts(self, asked: Any, u: int, v: int, given: Sequence[int]) -> dict[str, Any]:
        names = [self.names[w] for w in given]
        statistic, p = float(asked.statistic[0]), float(asked.p_value[0])
        # A test of the user's own has no statistic.
        numbers = {"statistic": None if np.isnan(statistic) else statistic, "p_value": p}
        return {"given": names, **numbers, "samples": self._samples([u, v, *given])}

    def _samples(self, variables: Sequence[int]) -> int:
        """Count the rows that have all of some variables."""
        assert self.table is not None
        gaps = [v for v in variables if self.table.missing[v]]
        there = np.ones(self.table.n_rows if gaps else 0, np.bool_)
        for v in gaps:
            column = self.table.column(v)
            of_states = self.table.kinds[v] == DISCRETE
            there &= column < self.table.cardinalities[v] if of_states else ~np.isnan(column)
        return int(there.sum()) if gaps else self.table.n_rows

    def _given_all_others(self, u: int, v: int) -> tuple[int, dict[str, Any]]:
        """Test a pair as TC does: given all other variables."""
        others = [w for w in range(len(self.names)) if w not in (u, v)]
        freedom = self.engine.n_rows - len(self.names) - 1
        answers = z_answers(self._total_correlations[u, [v]], freedom, self.model.alpha)
        return int(answers.answer[0]), self._facts(answers, u, v, others)

    def _in_words_of_tc(self, facts: dict[str, Any]) -> str:
        return f"given all {len(facts['given']):,} others, {numbers_in_words(facts)}"

    @cached_property
    def _total_correlations(self) -> Any:
        return given_all_others(self.engine.moments.correlations)

    @cached_property
    def _blankets(self) -> list[set[int]]:
        return [set(self._numbers(self.near[name]).tolist()) for name in self.names]

    @property
    def _has_score(self) -> bool:
        return isinstance(getattr(self.model, "score_", None), float)

    @cached_property
    def _dag(self) -> DAG:
        """The graph, or a DAG that it stands for."""
        return self.graph if isinstance(self.graph, DAG) else self.graph.to_dag()

    @cached_property
    def _score(self) -> Any:
        weight = getattr(self.model, "equivalent_sample_size_", None) or self.model.equivalent_sample_size
        return make_score(self.engine, self.model.options_in_use_.get("score", self.model.score), weight)

    @property
    def _per_edge(self) -> float:
        """Contribution of each edge to the log score."""
        if hasattr(self.model, "edge_cost_"):
            return -float(self.model.edge_cost_)
        return float(self._score.edge_log_prior) if self.local is not None else 0.0

    def _family(
        self, child: int, add: int | None = None, drop: int | None = None
    ) -> tuple[int, tuple[int, ...]]:
        parents = {self.number[name] for name in self._dag.parents(self.names[child])}
        parents |= set() if add is None else {add}
        return child, tuple(sorted(parents - {drop}))

    def _path(self, u: int, v: int, direct: bool = True) -> bool:
        """Return whether arrows lead from u to v; without `direct`, another way than u -> v itself."""
        graph = self._dag if isinstance(self.model, BY_BEST_NETWORKS) else self.graph
        start, end = self.names[u], self.names[v]
        waiting, seen = [start], {start}
        while waiting:
            here = waiting.pop()
            for child in graph.children(here):
                if child == end and (direct or here != start):
                    return True
                if child not in seen and child != end:
                    seen.add(child)
                    waiting.append(child)
        return False

    def _numbers(self, names: Sequence[str], *without: int) -> Integers:
        numbers = {self.number[name] for name in names if name in self.number}
        return np.array(sorted(numbers.difference(without)), np.int64)


RULES = {
    1: "an arrow points to {a} from a variable not adjacent to {b}",
    2: "{b} -> {a} would close a cycle through a third variable",
    3: "two variables not adjacent to each other point to {b} and are adjacent to {a}",
    4: "{b} -> {a} would make a cycle or a new v-structure with two others",
}


def _direction(by: str, text: str, **facts: Any) -> Reason:
    return Reason("direction", text, {"by": by, **facts})
