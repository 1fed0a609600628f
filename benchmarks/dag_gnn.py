"""DAG-GNN on linear networks, whose graphs are known.

    python benchmarks/dag_gnn.py                # the table of docs/evidence/gaussian.md; ten minutes
    python benchmarks/dag_gnn.py --epochs 30

Five networks of 10 variables and 20 edges, coefficients of 0.5 to 2 of either sign, noise of variance 1,
5,000 rows each. On the F2SL paper's data: benchmarks/paper_tables.py --algorithms dag-gnn --networks mildew
"""

from __future__ import annotations

import argparse

import numpy as np

import f2sl

VARIABLES, EDGES, ROWS = 10, 20, 5000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=int, default=5)
    parser.add_argument("--epochs", type=int, nargs="+", default=[300, 30])
    options = parser.parse_args()
    print(f"{VARIABLES} variables, {EDGES} edges, {ROWS:,} rows")
    print(
        f"{'epochs':>6}{'network':>9}{'SHD':>6}{'reverse':>9}{'miss':>6}{'extra':>7}{'steps':>10}{'seconds':>9}"
    )
    for epochs in options.epochs:
        distances = []
        for random_state in range(options.networks):
            network = f2sl.random_network(VARIABLES, EDGES, kind="continuous", random_state=random_state)
            model = f2sl.DAGGNN(epochs=epochs).fit(network.sample(ROWS, random_state=random_state))
            found = f2sl.compare(network, model, convention="paper")
            distances.append(found.shd)
            print(
                f"{epochs:>6}{random_state:>9}{found.shd:>6}{found.reverse:>9}{found.miss:>6}{found.extra:>7}"
                f"{model.n_steps_:>10,}{model.timings_['total']:>9.1f}",
                flush=True,
            )
        print(f"{epochs:>6}{'mean':>9}{np.mean(distances):>6.1f}", flush=True)


if __name__ == "__main__":
    main()
