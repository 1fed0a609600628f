"""Repeat the decisions of feature selection about a pair: of FCBF, and of FCBF confirmed by tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from f2sl.constraints import Constraints
from f2sl.data.engines import FoundPairs
from f2sl.learners.local.base import Neighborhoods
from f2sl.learners.local.confirmed import ConfirmedFCBF
from f2sl.learners.local.fcbf import FCBF, redundancy_margin, relevance_graph
from f2sl.stats.answers import DEPENDENT, INDEPENDENT
from f2sl.stats.choose import RELEVANCE_LEVEL, make_test, related_pairs, significant_pairs
from f2sl.stats.measures.base import Measure
from f2sl.stats.registries import MEASURES
from f2sl.view.explanation import Reason, answer_in_words, numbers_in_words


@dataclass(frozen=True)
class Selected:
    """FCBF of one target, repeated: values of the candidates, strongest first, and what dropped each."""

    values: dict[int, float]
    among: dict[tuple[int, int], float]
    dropped: dict[int, tuple[int, dict[str, Any]]]
    survived: dict[int, list[tuple[int, dict[str, Any]]]]

    def closeness(self, x: int, y: int) -> float | None:
        """Return the value of a pair of candidates, None if they count as unrelated."""
        return self.among.get((min(x, y), max(x, y)))


def _by_pair(pairs: FoundPairs) -> dict[tuple[int, int], float]:
    ends = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
    return dict(zip(ends, pairs.values.tolist(), strict=True))


class Selection:
    """Explains what a learner of the FCBF family did with pairs of variables, by number.

    Parameters
    ----------
    local : FCBF or ConfirmedFCBF
        The learner, with its options.
    engine : engine
        The data.
    names : sequence of str
        The variables.
    rules : Constraints
        Constraints of the learner.
    near : mapping of str to list of str
        The sets that it found.
    weakest, facts : callable
        Find the test with the largest p-value, given subsets; return the numbers of a test.
    many : bool
        True to search all pairs at once instead of those of each target: faster for many pairs.
    """

    def __init__(
        self,
        local: Any,
        engine: Any,
        names: Sequence[str],
        rules: Constraints,
        near: Mapping[str, Sequence[str]],
        weakest: Callable[..., Any],
        facts: Callable[..., dict[str, Any]],
        many: bool,
    ) -> None:
        self.many = many
        self.local, self.engine, self.names = local, engine, names
        self.rules, self.near, self.weakest, self.facts = rules, near, weakest, facts
        self.selected = cache(self._selected)

    @cached_property
    def test(self) -> Any:
        """Test that confirms redundancy."""
        return self.local.test(self.engine)

    @cached_property
    def strict_test(self) -> Any:
        """Test of the clean-up."""
        return self.local.strict_test(self.engine)

    def reasons(self, u: int, v: int, adjacent: bool) -> Iterator[Reason]:
        """Yield the values by which a pair was kept or dropped, from both ends."""
        value, unit = self._value(u, v), self.local.strength_unit
        relevant = v in self.selected(u).values
        if not relevant or adjacent:
            limit, facts = self._limit(u, v, relevant)
            text = f"{'' if relevant else 'not '}relevant: {unit} {value:.4g}{limit}"
            yield Reason("relevance", text, {"value": value, "relevant": relevant, **facts})
        if not relevant:
            return
        for target, other in ((u, v), (v, u)):
            yield from self._redundancy(self.selected(target), target, other, value)

    def _redundancy(self, found: Selected, target: int, other: int, value: float) -> Iterator[Reason]:
        """Return the variable that dropped a candidate of a target, or came nearest to it."""
        c, y, unit = self.names[target], self.names[other], self.local.strength_unit

        def three(x: int) -> tuple[str, dict[str, Any]]:
            closer, stronger = found.closeness(x, other), found.values[x]
            by = self.names[x]
            text = f"{unit}({by}, {y}) = {closer:.4g}, {unit}({y}, {c}) = {value:.4g}"
            text += f", {unit}({by}, {c}) = {stronger:.4g}"
            values = {"by_and_other": closer, "other_and_target": value, "by_and_target": stronger}
            return text, {"target": c, "by": by, **values}

        if other in found.dropped:
            x, evidence = found.dropped[other]
            text, facts = three(x)
            text = f"{c} dropped {y} as redundant beside {self.names[x]}: {text}"
            text += f"; independent {answer_in_words(evidence)}" if evidence else ""
            yield Reason("redundancy", text, {**facts, **evidence, "dropped": True})
            return
        if isinstance(self.local, ConfirmedFCBF) and (self.local.clean_up or y not in self.near[c]):
            dropped = y not in self.near[c]
            kept = [w for w in found.values if w not in found.dropped and w != other]
            if not dropped:  # what it survived for certain: those that were kept in the end
                kept = [w for w in kept if self.names[w] in self.near[c]]
            among = [np.array(kept, np.int64)]
            evidence = self.weakest(self.strict_test, target, other, among, self.local.clean_up, 1)
            if evidence is not None and (evidence[0] == INDEPENDENT) == dropped:
                answer = answer_in_words(evidence[1])
                text = f"{c} {'dropped' if dropped else 'kept'} {y} in the clean-up: {answer}"
                yield Reason("redundancy", text, {"target": c, **evidence[1], "dropped": dropped})
            if dropped:
                return
        doubts = found.survived.get(other, [])
        if doubts:
            x, evidence = max(doubts, key=lambda doubt: doubt[1]["p_value"])
            text, facts = three(x)
            text = f"{c} kept {y} beside {self.names[x]}: {text}; dependent {answer_in_words(evidence)}"
            yield Reason("redundancy", text, {**facts, **evidence, "dropped": False})
        elif isinstance(self.local, FCBF):
            earlier = list(found.values)[: list(found.values).index(other)]
            rivals = [x for x in earlier if x not in found.dropped and found.closeness(x, other) is not None]
            if rivals:
                text, facts = three(max(rivals, key=lambda x: found.closeness(x, other) or 0.0))
                yield Reason(
                    "redundancy",
                    f"{c} kept {y}; nearest to replacing it: {text}",
                    {**facts, "dropped": False},
                )

    def _selected(self, target: int) -> Selected:
        """Repeat the steps of FCBF for one target (:mod:`f2sl.learners.local.fcbf`)."""
        if self.many:
            near, among = self._all_pairs
        else:
            relevant = self.search(target=target)
            candidates = np.where(relevant.first == target, relevant.second, relevant.first)
            near = relevance_graph(len(self.names), relevant)
            among = _by_pair(self.search(variables=np.sort(candidates)))
        order, values = near.of(target)
        found = Selected(dict(zip(order.tolist(), values.tolist(), strict=True)), among, {}, {})
        margin = redundancy_margin(self.local.ties)
        for position, x in enumerate(order.tolist()):
            if x in found.dropped:
                continue
            for y in order[position + 1 :].tolist():
                closer = found.closeness(x, y)
                if y in found.dropped or closer is None or not closer > found.values[y] + margin:
                    continue
                if isinstance(self.local, FCBF):
                    found.dropped[y] = x, {}
                    continue
                asked = self.test.ask(np.array([target]), np.array([y]), np.array([[x]]))
                if asked.answer[0] == INDEPENDENT:
                    found.dropped[y] = x, self.facts(asked, target, y, [x])
                elif asked.answer[0] == DEPENDENT:
                    found.survived.setdefault(y, []).append((x, self.facts(asked, target, y, [x])))
        return found

    @cached_property
    def _all_pairs(self) -> tuple[Neighborhoods, dict[tuple[int, int], float]]:
        """Search all relevant pairs at once."""
        pairs = self.search()
        return relevance_graph(len(self.names), pairs), _by_pair(pairs)

    @cached_property
    def search(self) -> Any:
        """Search for relevant pairs."""
        how = {"measure": self.local.measure, "rules": self.rules}
        if isinstance(self.local, ConfirmedFCBF):
            return significant_pairs(self.engine, self.local.relevance, **how)
        if isinstance(self.local.delta, str):
            return significant_pairs(self.engine, **how)
        return related_pairs(self.engine, self.local.delta, **how)

    def _value(self, u: int, v: int) -> float:
        measure = self.local.measure
        made: Measure = measure if isinstance(measure, Measure) else MEASURES.load(measure)()
        return float(made.values(self.engine, np.array([min(u, v)]), np.array([max(u, v)]))[0])

    def _limit(self, u: int, v: int, relevant: bool) -> tuple[str, dict[str, Any]]:
        """Return the threshold of relevance: delta, or the largest significant p-value."""
        delta = getattr(self.local, "delta", "auto")
        if not isinstance(delta, str):
            return f", {'' if relevant else 'not '}above delta {delta:g}", {"threshold": float(delta)}
        # Pairs are related by the test for the kind of columns, whatever the learner's own test is.
        test = make_test(self.engine, RELEVANCE_LEVEL, samples_per_cell=1.0)
        evidence = self.facts(test.ask(np.array([u]), np.array([v]), np.empty((1, 0), np.int64)), u, v, [])
        how = getattr(self.local, "relevance", "fdr")
        unknown = np.isnan(evidence["p_value"])
        facts = evidence | {"p_value": None} if unknown else evidence
        text = f"{'' if unknown else f', {numbers_in_words(evidence)}'}, corrected for all pairs"
        level = {"correction": how, "level": RELEVANCE_LEVEL}
        return f"{text} ({how}, level {RELEVANCE_LEVEL:g})", {**facts, **level}
