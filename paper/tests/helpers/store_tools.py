"""Files of results with made-up figures."""

from f2sl_paper.store import NetworkFacts, Outcome, Store, Unit

DESCRIPTION = {
    "machine": {"processor": "made-up <processor>", "cores": 2, "memory": 8 * 2**30, "system": "Linux"},
    "versions": {"python": "3.11", "f2sl": "0.1", "numpy": "2.0", "torch": None},
    "threads": 1,
    "jobs": 2,
    "time_limit": 600.0,
    "memory_limit": 4 * 2**30,
}
FACTS = {
    "mildew": (35, 46, 3, 3, 1, 5, 3, 100),
    "hailfinder": (56, 66, 4, 16, 1, 17, 2, 11),
    "munin": (189, 282, 3, 15, 1, 15, 1, 21),
    "pigs": (441, 592, 2, 39, 1, 41, 3, 3),
    "link": (724, 1125, 3, 14, 0, 17, 2, 4),
    "gene": (801, 972, 4, 10, 0, 11, 3, 5),
}


def errors(reverse, miss, extra, f1=0.5, precision=0.5, recall=0.5):
    """The measures of a structure learner."""
    shd = float(reverse + miss + extra)
    return {"shd": shd, "reverse": reverse, "miss": miss, "extra": extra, **rates(f1, precision, recall)}


def rates(f1, precision=0.5, recall=0.5):
    """The measures of a PC learner."""
    return {"f1": f1, "precision": precision, "recall": recall}


def done(network, rows, data_set, learner, measures, seconds=1.0, setting="paper", source="paper", **others):
    """A unit that was measured."""
    unit = Unit(network, rows, data_set, learner, setting)
    return Outcome(unit, source, None, "done", 1, seconds, measures=measures, **others)


def ended(state, network, rows, data_set, learner, setting="paper", source="paper", message=""):
    """A unit over a limit, or that failed."""
    unit = Unit(network, rows, data_set, learner, setting)
    return Outcome(unit, source, None, state, 1, time_limit=600.0, memory_limit=4 * 2**30, message=message)


def facts_of(outcomes):
    """What is known of the networks that occur."""
    met = sorted({(outcome.unit.network, outcome.source) for outcome in outcomes})
    return [NetworkFacts(network, source, *FACTS[network]) for network, source in met]


def write_store(folder, outcomes):
    """Write a file of results; gives its folder."""
    folder.mkdir(exist_ok=True)
    with Store(folder) as store:
        store.add_run("2026-01-02T03:04:05", DESCRIPTION)
        store.add_networks(facts_of(outcomes))
        store.add(outcomes)
    return folder
