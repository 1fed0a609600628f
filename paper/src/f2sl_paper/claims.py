"""The claims of the paper's section 6, each tested on stored runs; verdicts are always computed.

A claim is tested three times: on the figures printed in the paper, on our runs with the paper's settings, and
on our runs with f2sl's defaults. The first test shows how far the text agrees with its own tables.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from f2sl_paper.claim_cases import Case, Cases, View
from f2sl_paper.differences import Difference
from f2sl_paper.names import short
from f2sl_paper.results import Cells, paper_cells
from f2sl_paper.settings import DEFAULT, PAPER

HOLDS, SO_FAR, IN_PART, NOT, UNKNOWN = (
    "holds",
    "holds so far",
    "holds in part",
    "does not hold",
    "cannot be judged",
)
"""Verdicts; a claim holds *so far* if runs that it asks for are missing."""

GROUPS = ("The paper's own tables", "Our runs, the paper's settings", "Our runs, f2sl defaults")
"""Sources of the figures that decide a claim."""

ON_SECONDS = "With few data sets, or on a busy machine, a verdict about seconds may differ in another run."


@dataclass(frozen=True)
class Claim:
    """Claim of the paper.

    Attributes
    ----------
    name : str
        Name to refer to it.
    text : str
        Claim, in our words.
    section : str
        Where in the paper.
    how : str
        Comparison, and where it is made.
    cases : callable
        Function that makes the comparisons from a view of the cells.
    enough : float
        The share of cases that must hold: 1, or less where the paper says "often" or "almost all".
    by_setting : bool
        True if f2sl's defaults make a difference to it.
    timed : bool
        True if it is about seconds.
    about : str
        Network, as named in the cases, without which the claim cannot be judged.
    difference : Difference or None
        Known difference from the paper that affects it.
    """

    name: str
    text: str
    section: str
    how: str
    cases: Cases
    enough: float = 1.0
    by_setting: bool = True
    timed: bool = False
    about: str = ""
    difference: Difference | None = None


@dataclass(frozen=True)
class Verdict:
    """Outcome of a claim for one group of figures; see `Claim` for `enough` and `about`."""

    cases: tuple[Case, ...]
    enough: float = 1.0
    about: str = ""

    @property
    def judged(self) -> list[Case]:
        """Cases that can be judged."""
        return [case for case in self.cases if case.holds is not None]

    @property
    def held(self) -> int:
        """Number of cases that hold."""
        return sum(bool(case.holds) for case in self.judged)

    @property
    def unjudged(self) -> int:
        """Number of cases that cannot be judged."""
        return len(self.cases) - len(self.judged)

    @property
    def lacking_runs(self) -> int:
        """Number of cases that lack runs; the other unjudged cases have no result, in the paper or here."""
        return sum(case.missing for case in self.cases if case.holds is None)

    @property
    def word(self) -> str:
        """Verdict on the claim.

        Examples
        --------
        >>> cases = [Case("Mildew 500", "sampled", "", "", holds) for holds in (True, False, None)]
        >>> Verdict(tuple(cases)).word, Verdict(tuple(cases), 0.5).word
        ('holds in part', 'holds')
        >>> Verdict((cases[0], Case("Pigs 500", "sampled", "", "", None, missing=True))).word
        'holds so far'
        """
        if not any(case.where.startswith(self.about) for case in self.judged):
            return UNKNOWN
        if self.held >= self.enough * len(self.judged):
            return SO_FAR if any(case.missing for case in self.cases) else HOLDS
        return IN_PART if self.held else NOT

    def shares(self) -> str:
        """Describe in short how many of the cases hold."""
        parts = [f"{self.held} of {len(self.judged)}"] if self.judged else []
        parts += [f"{self.unjudged} cannot be judged"] if self.unjudged else []
        return "; ".join(parts)

    def counted(self) -> str:
        """Describe how many of the cases hold, by source of the data."""
        if not self.judged:
            return "no runs to judge by"
        parts = []
        for source in sorted({case.source for case in self.judged}):
            of_source = [case for case in self.judged if case.source == source]
            parts.append(f"{sum(bool(case.holds) for case in of_source)} of {len(of_source)} on {source}")
        if self.word == UNKNOWN:
            parts.insert(0, f"nothing on {self.about}")
        if self.unjudged:
            others = self.unjudged - self.lacking_runs
            why = [f"{self.lacking_runs} because runs are missing"] if self.lacking_runs else []
            why += [f"{others} without a result in the paper or here"] if others else []
            parts.append(f"{self.unjudged} cannot be judged ({', '.join(why)})")
        return "; ".join(parts)

    def failing(self) -> str:
        """Describe where the claim does not hold, and how often."""
        wheres = Counter(case.where for case in self.judged if not case.holds)
        return ", ".join(f"{where} ({number})" for where, number in wheres.items())

    def factors(self) -> list[str]:
        """Describe by how much learners are faster: for each and each rival the range of factors."""
        ranges: dict[str, dict[str, list[float]]] = {}
        for case in self.cases:
            if case.factor is not None:
                ours, rival, factor = case.factor
                ranges.setdefault(ours, {}).setdefault(rival, []).append(factor)
        return [
            f"Times the seconds of {ours}: "
            + ", ".join(f"{rival} {_range(found)}" for rival, found in rivals.items())
            for ours, rivals in ranges.items()
        ]


@dataclass(frozen=True)
class Finding:
    """Claim with its verdicts; `defaults` is None if f2sl's defaults were not run or make no difference."""

    claim: Claim
    printed: Verdict
    ours: Verdict
    defaults: Verdict | None

    @property
    def verdicts(self) -> tuple[Verdict | None, ...]:
        """One for each of `GROUPS`."""
        return self.printed, self.ours, self.defaults


def findings(cells: Cells) -> list[Finding]:
    """Test all claims."""
    printed, ours, defaults = View(paper_cells()), View(cells, PAPER), View(cells, DEFAULT)
    with_defaults = any(cell.setting == DEFAULT for cell in cells.all())
    return [
        Finding(
            claim,
            _verdict(claim, printed),
            _verdict(claim, ours),
            _verdict(claim, defaults) if with_defaults and claim.by_setting else None,
        )
        for claim in all_claims()
    ]


def all_claims() -> tuple[Claim, ...]:
    """List the claims, in the paper's order."""
    from f2sl_paper.claims_pc import CLAIMS as OF_PC_LEARNERS
    from f2sl_paper.claims_structure import CLAIMS as OF_STRUCTURES

    return (*OF_STRUCTURES, *OF_PC_LEARNERS)


def _verdict(claim: Claim, view: View) -> Verdict:
    return Verdict(tuple(claim.cases(view)), claim.enough, claim.about)


def _range(values: list[float]) -> str:
    low, high = short(min(values)), short(max(values))
    return low if low == high else f"{low} to {high}"
