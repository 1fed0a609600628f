"""Make the bundled networks from a folder of BIF files.

    python tools/bundle_networks.py FOLDER

The folder holds alarm.bif.gz, andes.bif.gz, ..., as the wheel of pgmpy does in pgmpy/utils/example_models.
Each is read and written by f2sl, with its source and licence at the top, into src/f2sl/network/bundled; the
same files give the same bytes. index.json there says how large each network is.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from f2sl._constants import STAND_IN
from f2sl.network.bayesian_network import BayesianNetwork
from f2sl.network.bundled import REPOSITORY, load_network, size_of
from f2sl.network.formats import pack_gzip, read_network
from f2sl.network.formats.bif_file import write_bif

TARGET = Path(__file__).parent.parent / "src" / "f2sl" / "network" / "bundled"
HEADER = (
    "From the Bayesian Network Repository (M. Scutari), https://www.bnlearn.com/bnrepository/",
    "Licence: CC BY-SA 3.0, https://creativecommons.org/licenses/by-sa/3.0/",
    "Read from the copy published with pgmpy, written by f2sl; the numbers are unchanged.",
)
MOST_BYTES = 2_000_000


def main(folder: str) -> None:
    sizes = []
    for name in REPOSITORY:
        source = read_network(next(Path(folder).glob(f"{name}.bif*")))
        parents = {node: source.parents(node) for node in source.variables}
        network = BayesianNetwork(source.graph, source.states, source.tables, parents=parents, name=name)
        target = TARGET / f"{name}.bif.gz"
        target.write_bytes(pack_gzip("".join(write_bif(network, HEADER)).encode()))
        if read_network(target) != network:
            sys.exit(f"{target} does not read back as what was written")
        sizes.append(size_of(network))
    sizes.append(size_of(load_network(STAND_IN)))
    lines = ",\n".join(json.dumps(asdict(size)) for size in sizes)
    (TARGET / "index.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    total = sum(path.stat().st_size for path in TARGET.iterdir())
    print(f"{len(sizes)} networks, {total:,} bytes")
    if total > MOST_BYTES:
        sys.exit(f"more than {MOST_BYTES:,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
