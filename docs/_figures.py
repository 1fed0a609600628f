"""Draw the figures of the start page and of "F2SL in pictures": each step on 1,000 rows of asia."""

import re
from math import log10
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

import f2sl

DELTA = 0.01
TARGET, STRONGEST = "xray", "either"
KEPT, DROPPED, RULE = "#3c7391", "#c9d3da", "#d55e00"


def draw(folder: Path) -> None:
    """Write all figures to `folder`."""
    plt.rcParams.update({"svg.hashsalt": "f2sl", "svg.fonttype": "none", "font.size": 10})
    network = f2sl.load_network("asia")
    table = f2sl.open_table(network.sample(1000, random_state=2))
    model = f2sl.F2SLc(delta=DELTA).fit(table)
    named = f2sl.learn_pc(table, delta=DELTA)
    f2sl.plot(f2sl.learn(f2sl.load_example("asia"), "f2sl-h"), folder / "start-asia.svg")
    f2sl.plot(network, folder / "asia-true.svg")
    _save(_relevance(_pairs(table, TARGET)), folder / "asia-relevance.svg")
    _save(_redundancy(_pairs(table, TARGET), _pairs(table, STRONGEST)), folder / "asia-redundancy.svg")
    _save(_symmetry(named, table.names), folder / "asia-symmetry.svg")
    skeleton = f2sl.F2SLc(delta=DELTA, skeleton_only=True).fit(table).graph_
    f2sl.plot(skeleton, folder / "asia-skeleton.svg")
    _save(_v_structure(model, table), folder / "asia-v-structure.svg")
    f2sl.plot(model, folder / "asia-learned.svg", highlight=[("tub", "either"), ("lung", "either")])


def _pairs(table: Any, target: str) -> dict[str, float]:
    """Return SU of the target with every other variable, strongest first."""
    found = dict(f2sl.learn_pc(table, target, algorithm="mrmr", k=len(table.names) - 1, measure="su"))
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _axes(height: float, title: str) -> tuple[Any, Any]:
    figure, axes = plt.subplots(figsize=(7, height), layout="constrained")
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _relevance(values: dict[str, float]) -> Any:
    figure, axes = _axes(2.9, f"SU of {TARGET} with each other variable")
    names = list(values)[::-1]
    bars = axes.barh(
        names, [values[v] for v in names], color=[KEPT if values[v] > DELTA else DROPPED for v in names]
    )
    axes.bar_label(bars, [f"{values[v]:.3f}" for v in names], padding=4)
    axes.axvline(DELTA, color=RULE, linestyle="--")
    axes.text(DELTA, -1.0, f" threshold {DELTA}", color=RULE, va="top", fontsize=9)
    axes.set_xlim(0, 0.55)
    axes.set_xticks([])
    return figure


def _redundancy(to_target: dict[str, float], to_strongest: dict[str, float]) -> Any:
    names = [name for name, value in to_target.items() if value > DELTA and name != STRONGEST][::-1]
    figure, axes = _axes(3.2, f"Is it closer to {STRONGEST} than to {TARGET}?")
    own, other = [to_target[v] for v in names], [to_strongest[v] for v in names]
    places = range(len(names))
    left = axes.barh([p + 0.2 for p in places], own, 0.36, color=KEPT, label=f"SU with {TARGET}, the target")
    right = axes.barh(
        [p - 0.2 for p in places], other, 0.36, color="#a3762b", label=f"SU with {STRONGEST}, already kept"
    )
    axes.bar_label(left, [f"{v:.3f}" for v in own], padding=4)
    labels = [f"{b:.3f}  {'dropped' if b >= a else 'kept'}" for a, b in zip(own, other, strict=True)]
    axes.bar_label(right, labels, padding=4)
    axes.set_yticks(list(places), names)
    axes.set_xlim(0, 1.05)
    axes.set_xticks([])
    axes.legend(loc="lower right", frameon=False)
    return figure


def _symmetry(named: Any, names: list[str]) -> Any:
    figure, axes = plt.subplots(figsize=(5.4, 5.0), layout="constrained")
    for row, one in enumerate(names):
        for column, other in enumerate(names):
            if other in named[one]:
                mutual = one in named[other]
                axes.scatter(column, row, s=330, marker="s", color=KEPT if mutual else RULE)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="left")
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(len(names) - 0.4, -0.6))
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)
    axes.set_title("Each row: the neighbors that one variable names", fontsize=11)
    for color, text in ((KEPT, "both name each other: an edge"), (RULE, "one-sided: no edge")):
        axes.scatter([], [], s=90, marker="s", color=color, label=text)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)
    return figure


def _v_structure(model: Any, table: Any) -> Any:
    [reason] = [one for one in model.explain("tub", "either", table).reasons if one.kind == "direction"]
    found = re.findall(r"p = (\S+) given (\w+)", reason.text)
    figure, axes = _axes(1.9, "Evidence that tub and lung are dependent: -log10 of p")
    values = [-log10(float(p)) for p, _ in found][::-1]
    bars = axes.barh([f"given {given}" for _, given in found][::-1], values, color=[KEPT, DROPPED])
    axes.bar_label(bars, [f"p = {p}" for p, _ in found][::-1], padding=4)
    axes.axvline(-log10(model.alpha), color=RULE, linestyle="--")
    axes.text(-log10(model.alpha), -0.62, f" alpha = {model.alpha}", color=RULE, va="top", fontsize=9)
    axes.set_xlim(0, 13)
    axes.set_xticks([])
    return figure
