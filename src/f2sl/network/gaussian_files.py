"""Gaussian networks in files: JSON, the same for the same network.

``{"format":"f2sl-gaussian-network","version":1,"name":"","variables":["a","b"],
"variances":[1.0,0.5],"edges":[["a","b",2.0]]}``
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from f2sl.errors import F2SLError, FileError
from f2sl.graph import DAG
from f2sl.graph.atomic import write_atomically
from f2sl.network.gaussian import GaussianNetwork

FORMAT, VERSION = "f2sl-gaussian-network", 1


def save(network: GaussianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network, whole or not at all."""
    if not Path(path).name.lower().endswith(".json"):
        raise FileError(f"cannot write {path}: Gaussian networks are written as .json")
    content = {
        "format": FORMAT,
        "version": VERSION,
        "name": network.name,
        "variables": network.variables,
        "variances": list(network.variances.values()),
        "edges": [[*edge, coefficient] for edge, coefficient in network.coefficients.items()],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        write_atomically(path, text.encode("utf-8"))
    except UnicodeEncodeError:
        raise FileError(f"cannot write {path}: a name cannot be written as UTF-8") from None


def load(path: str | os.PathLike[str]) -> GaussianNetwork:
    """Read a network."""
    try:
        given = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(given, dict) or (given.get("format"), given.get("version")) != (FORMAT, VERSION):
            raise ValueError(f'there is no "format": "{FORMAT}" of version {VERSION}')
        return _network(given)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, RecursionError, F2SLError) as error:
        raise FileError(f"{path}: not a Gaussian network of f2sl ({error!s})") from None


def _network(given: dict[str, Any]) -> GaussianNetwork:
    edges = [(parent, child) for parent, child, _ in given["edges"]]
    coefficients = {(parent, child): coefficient for parent, child, coefficient in given["edges"]}
    variances = dict(zip(given["variables"], given["variances"], strict=True))
    return GaussianNetwork(DAG(given["variables"], edges), coefficients, variances, name=given["name"])
