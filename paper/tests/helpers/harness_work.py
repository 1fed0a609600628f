"""Work for the harness whose jobs do what their keys say."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from f2sl.errors import DataError
from f2sl_paper.harness.job import Measured, Work

prepared = []
"""What was prepared in this process, or in the one it was forked from."""


class Key(NamedTuple):
    """A job that does something with a table of so many rows."""

    doing: str
    rows: int = 1


@dataclass
class Doing(Work[Key]):
    """Does what keys say, in processes forked from the server."""

    wrong: bool = False

    def prepare(self):
        yield "preparing"
        if self.wrong:
            raise DataError("no such data")
        prepared.append("data")
        return "facts"

    def task(self, key):
        if key.doing == "refuse":
            raise ValueError("no task")
        return partial(do, key.doing, key.rows)


class DoingAfresh(Doing):
    """Does it in fresh processes."""

    fresh = True


def do(doing, rows, begin):
    begin()
    if doing == "hang":
        time.sleep(600)
    if doing == "crash":
        os.abort()
    if doing == "fail":
        raise ZeroDivisionError("one by nought")
    if doing == "eat":
        return Measured(0.5, {"eaten": len(bytearray(1 << 30))})
    os.write(1, b"must not be seen")
    return Measured(0.5, {"doubled": 2 * rows, "prepared": len(prepared), "parent": os.getppid()})
