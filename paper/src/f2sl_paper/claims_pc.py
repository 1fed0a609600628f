"""Claims of section 6.3 of the paper, on learners of parents and children and on FCBF's threshold."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator

from f2sl_paper.claim_cases import (
    F2SL,
    Case,
    Cases,
    View,
    case,
    close,
    close_or_higher,
    close_or_lower,
    comparisons,
    higher,
    lower,
    networks_but,
    pairs,
    timings,
)
from f2sl_paper.claims import Claim
from f2sl_paper.names import LEARNERS, MEASURES, PC_LEARNERS
from f2sl_paper.results import CHOSEN_DELTA, swept
from f2sl_paper.settings import DELTAS

RIVALS = tuple(name for name in PC_LEARNERS if name != "fcbf")
BY_SCORE = ("sll-pc", "s2tmb-pc")
BUILT_ON_SCORES = ("sll+c", "sll+g", "ggsl")
AS_PC_SIMPLE = ("hailfinder", "pigs", "gene")
COMPARED, THRESHOLD = "6.3.1", "6.3.2"
NEAR = 0.03
"""Largest difference of rates that count as almost the same."""
STEADY = 0.1
"""A rate that varies by this much at most, over all thresholds, hardly depends on the threshold."""


def _almost_the_same(ours: float, theirs: float) -> bool:
    # Figures with two decimals: 0.99 and 0.96 differ by 0.03.
    return abs(ours - theirs) <= NEAR + 1e-9


def _precision(view: View) -> Iterator[Case]:
    """Compare FCBF's precision with all others, except the two learners by score on Mildew."""
    for task in view.tasks():
        rivals = [name for name in RIVALS if not (task.network == "mildew" and name in BY_SCORE)]
        yield from comparisons(view, "precision", pairs(("fcbf",), rivals), higher, [task])


def _on_average(view: View) -> Iterator[Case]:
    """Compare means over all tasks on which two learners have a result."""
    for ours, rival in pairs(F2SL, BUILT_ON_SCORES):
        found = [
            (mine, theirs)
            for task in view.tasks()
            if (mine := view.mean(task, ours, "f1")) is not None
            and (theirs := view.mean(task, rival, "f1")) is not None
        ]
        figures, answer = "not run", None
        if found:
            mean, rivals = (statistics.fmean(values) for values in zip(*found, strict=True))
            answer = mean > rivals
            figures = f"{LEARNERS[ours]} {mean:.2f}; {LEARNERS[rival]} {rivals:.2f}; {len(found)} cells"
        what = f"{LEARNERS[ours]}, {LEARNERS[rival]}: F1"
        missing = any(view.lacks(task, (ours, rival)) for task in view.tasks())
        yield Case("all together", "all data", what, figures, answer, missing)


def _swept(judge: Callable[[dict[float, float]], tuple[bool, str]], measure: str) -> Cases:
    """Judge a rate of FCBF over all thresholds, on each task where all were run."""

    def cases(view: View) -> Iterator[Case]:
        for task in view.tasks():
            rates = {
                delta: cell.figures[measure].mean
                for delta, cell in swept(view.cells, task).items()
                if measure in cell.figures
            }
            answer, figures = judge(rates) if len(rates) == len(DELTAS) else (None, "not run")
            what = f"FCBF: {MEASURES[measure]} over delta"
            yield case(task, what, figures, answer, missing=answer is None)

    return cases


def _rises(rates: dict[float, float]) -> tuple[bool, str]:
    return rates[0.0] < rates[
        CHOSEN_DELTA
    ], f"{rates[0.0]:.3f} at 0; {rates[CHOSEN_DELTA]:.3f} at {CHOSEN_DELTA}"


def _falls(rates: dict[float, float]) -> tuple[bool, str]:
    last = max(DELTAS)
    return rates[last] < rates[0.0], f"{rates[0.0]:.3f} at 0; {rates[last]:.3f} at {last}"


def _varies_little(rates: dict[float, float]) -> tuple[bool, str]:
    low, high = min(rates.values()), max(rates.values())
    return high - low <= STEADY, f"from {low:.3f} to {high:.3f}"


def _almost_highest(rates: dict[float, float]) -> tuple[bool, str]:
    best = max(rates, key=lambda delta: (rates[delta], -delta))
    figures = f"{rates[CHOSEN_DELTA]:.3f} at {CHOSEN_DELTA}; highest {rates[best]:.3f} at {best:g}"
    return rates[best] - rates[CHOSEN_DELTA] <= NEAR, figures


def _stable(rates: dict[float, float]) -> tuple[bool, str]:
    after = {delta: rate for delta, rate in rates.items() if delta >= CHOSEN_DELTA}
    low, high = min(after.values()), max(after.values())
    return high - low <= 2 * NEAR, f"from {low:.3f} to {high:.3f} between {CHOSEN_DELTA} and {max(DELTAS)}"


def _full_recall(view: View) -> Iterator[Case]:
    for task in view.tasks(["pigs"]):
        recall = view.mean(task, "mmpc", "recall")
        answer = None if recall is None else recall >= 0.995
        figures = "not run" if recall is None else f"{recall:.3f}"
        yield case(task, "MMPC: Recall", figures, answer, missing=view.lacks(task, ["mmpc"]))


CLAIMS = (
    Claim(
        "fcbf-faster",
        "FCBF is faster than all other learners of parents and children.",
        COMPARED,
        "Mean seconds beside each rival, on each network and size; over the time limit counts as longer.",
        lambda view: timings(view, pairs(("fcbf",), RIVALS)),
        timed=True,
    ),
    Claim(
        "by-score-cost",
        "SLL-PC and S2TMB-PC take so much time that learners built on them do not scale.",
        COMPARED,
        "More than a hundred times FCBF's seconds; over the time limit counts as longer.",
        lambda view: timings(view, pairs(("fcbf",), BY_SCORE), 100.0),
        timed=True,
    ),
    Claim(
        "fcbf-f1",
        "FCBF has a higher F1 than MMPC, HITON-PC, SLL-PC and S2TMB-PC on almost all networks.",
        COMPARED,
        "Mean F1, in at least four cases of five.",
        lambda view: comparisons(
            view, "f1", pairs(("fcbf",), [name for name in RIVALS if name != "pc-simple"]), higher
        ),
        enough=0.8,
    ),
    Claim(
        "fcbf-as-pc-simple",
        "On Hailfinder, Pigs and Gene FCBF and PC-simple have almost the same F1.",
        COMPARED,
        f"Mean F1 differs by at most {NEAR}.",
        lambda view: comparisons(
            view, "f1", [("fcbf", "pc-simple")], _almost_the_same, view.tasks(AS_PC_SIMPLE)
        ),
    ),
    Claim(
        "fcbf-above-pc-simple",
        "On Mildew, Munin and Link FCBF has a much higher F1 than PC-simple.",
        COMPARED,
        "Mean F1 is higher, by any amount, where PC-simple gives a result.",
        lambda view: comparisons(
            view,
            "f1",
            [("fcbf", "pc-simple")],
            higher,
            view.tasks(networks_but(*AS_PC_SIMPLE)),
        ),
    ),
    Claim(
        "fcbf-recall",
        "FCBF can compete with its rivals in recall.",
        COMPARED,
        "Mean recall is higher or differs by at most a quarter of the larger.",
        lambda view: comparisons(view, "recall", pairs(("fcbf",), RIVALS), close_or_higher),
    ),
    Claim(
        "fcbf-precision",
        "FCBF is more precise than its rivals, except SLL-PC and S2TMB-PC on Mildew.",
        COMPARED,
        "Mean precision beside each rival.",
        _precision,
    ),
    Claim(
        "by-score-recall",
        "SLL-PC and S2TMB-PC have a much lower recall than FCBF.",
        COMPARED,
        "Mean recall is lower, by any amount, on each network and size.",
        lambda view: comparisons(view, "recall", pairs(BY_SCORE, ("fcbf",)), lower),
    ),
    Claim(
        "by-score-on-hailfinder",
        "On Hailfinder FCBF, SLL-PC and S2TMB-PC are comparable.",
        COMPARED,
        "Mean F1 differs by at most a quarter of the larger.",
        lambda view: comparisons(view, "f1", pairs(("fcbf",), BY_SCORE), close, view.tasks(["hailfinder"])),
    ),
    Claim(
        "by-score-on-average",
        "With better PC sets F2SL-c and F2SL-s are better than SLL+C, SLL+G and GGSL on average.",
        COMPARED,
        "Mean Ar_F1 over all networks and sizes where both give a result.",
        _on_average,
    ),
    Claim(
        "structures-on-hailfinder",
        "On Hailfinder F2SL-c and F2SL-s can compete with SLL+C, SLL+G and GGSL.",
        COMPARED,
        "Mean SHD is lower or differs by at most a quarter of the larger.",
        lambda view: comparisons(
            view, "shd", pairs(F2SL, BUILT_ON_SCORES), close_or_lower, view.tasks(["hailfinder"])
        ),
    ),
    Claim(
        "fcbf-mmpc-large",
        "Where PC sets or networks are large (Munin, Gene) FCBF is better than MMPC in recall and precision.",
        COMPARED,
        "Mean recall and mean precision on these two networks.",
        lambda view: [
            found
            for measure in ("recall", "precision")
            for found in comparisons(view, measure, [("fcbf", "mmpc")], higher, view.tasks(("munin", "gene")))
        ],
    ),
    Claim(
        "mmpc-recall-on-pigs",
        "MMHC's exception on Pigs comes from MMPC, which finds all parents and children there.",
        "6.2, 2 and 3; 6.3.1",
        "Mean recall of MMPC on Pigs is 1.00.",
        _full_recall,
    ),
    Claim(
        "mmhc-extra",
        "MMHC has about as few extra edges as F2SL-c, except on Gene, since its climb deletes edges.",
        COMPARED,
        "Mean Extra is lower or differs by at most a quarter of the larger, on all networks but Gene.",
        lambda view: comparisons(
            view,
            "extra",
            [("mmhc", "f2sl-c")],
            close_or_lower,
            view.tasks(networks_but("gene")),
        ),
    ),
    Claim(
        "mmhc-miss",
        "The higher recall of MMPC does not lead MMHC to miss fewer edges than F2SL-c.",
        COMPARED,
        "Mean Miss is higher or differs by at most a quarter of the larger, on all networks but Pigs.",
        lambda view: comparisons(
            view,
            "miss",
            [("mmhc", "f2sl-c")],
            close_or_higher,
            view.tasks(networks_but("pigs")),
        ),
    ),
    Claim(
        "delta-f1",
        "With a small threshold FCBF's F1 is low, and it rises with the threshold.",
        THRESHOLD,
        f"Mean F1 at 0 is below that at {CHOSEN_DELTA}.",
        _swept(_rises, "f1"),
        by_setting=False,
    ),
    Claim(
        "delta-precision",
        "F1 is low there because precision is: a small threshold lets false members in.",
        THRESHOLD,
        f"Mean precision at 0 is below that at {CHOSEN_DELTA}.",
        _swept(_rises, "precision"),
        by_setting=False,
    ),
    Claim(
        "delta-recall",
        "Recall hardly depends on the threshold.",
        THRESHOLD,
        f"Mean recall varies by at most {STEADY} between 0 and {max(DELTAS)}.",
        _swept(_varies_little, "recall"),
        by_setting=False,
    ),
    Claim(
        "delta-discards",
        "As the threshold grows some true members are discarded.",
        THRESHOLD,
        f"Mean recall at {max(DELTAS)} is below that at 0.",
        _swept(_falls, "recall"),
        by_setting=False,
    ),
    Claim(
        "delta-chosen",
        f"At {CHOSEN_DELTA} F1 is almost the highest.",
        THRESHOLD,
        f"Mean F1 there is within {NEAR} of the highest of all thresholds.",
        _swept(_almost_highest, "f1"),
        by_setting=False,
    ),
    Claim(
        "delta-stable",
        f"From {CHOSEN_DELTA} on F1 is stable.",
        THRESHOLD,
        f"Mean F1 varies by at most {2 * NEAR} between {CHOSEN_DELTA} and {max(DELTAS)}.",
        _swept(_stable, "f1"),
        by_setting=False,
    ),
)
