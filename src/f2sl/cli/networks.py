"""``f2sl networks``: list the networks that come with f2sl."""

from __future__ import annotations

from f2sl._constants import REMARKS, STAND_IN
from f2sl.cli import output
from f2sl.cli.options import AsJson
from f2sl.cli.program import examples

EXAMPLES = examples("f2sl networks", "f2sl networks --json")

HEADINGS = (
    "name",
    "variables",
    "edges",
    "max in-degree",
    "max out-degree",
    "states",
    "parameters",
)


def networks(as_json: AsJson = False) -> None:
    """List the bundled networks, from which f2sl sample draws and with which f2sl compare compares.

    All but gene-like are from the Bayesian Network Repository. gene-like is random; it replaces the F2SL
    paper's Gene, which is not available.
    """
    from dataclasses import asdict

    from f2sl.network.bundled import bundled_sizes

    sizes = bundled_sizes()
    if as_json:
        output.show_json([{**asdict(size), "stands_in": size.name == STAND_IN} for size in sizes])
        return
    rows = [
        (
            size.name,
            f"{size.variables:,}",
            f"{size.edges:,}",
            f"{size.max_in_degree}",
            f"{size.max_out_degree}",
            f"{size.least_states}-{size.most_states}"
            if size.least_states < size.most_states
            else f"{size.most_states}",
            f"{size.parameters:,}",
        )
        for size in sizes
    ]
    title = "Bundled networks: f2sl sample NAME --rows 1000 --out FILE.csv"
    output.show(output.columns(title, HEADINGS, rows, right=range(1, len(HEADINGS))))
    output.show(
        f"\n{REMARKS[STAND_IN]}. The others are from the Bayesian Network Repository "
        "(https://www.bnlearn.com/bnrepository/, CC BY-SA 3.0)."
    )
