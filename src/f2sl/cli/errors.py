"""Errors of the command line: one line on the standard error, and an exit code.

==========  =====================================================================
exit code   when
==========  =====================================================================
0           all went well
1           a bug in f2sl; out of memory or disk space; part of the work failed
2           wrong input: an option, a file, a table
130         interrupted with Ctrl-C
141         the reader of the output stopped reading, as in ``f2sl ... | head``
143         ended by SIGTERM, as by ``kill`` or ``timeout``
==========  =====================================================================
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import traceback
from collections.abc import Callable

from f2sl._memory import short_of_addresses
from f2sl.cli.interrupts import interrupts
from f2sl.cli.options import in_shell, records
from f2sl.cli.output import show_json
from f2sl.errors import DataError, F2SLError, printable

FAULT = 1
WRONG_INPUT = 2
BROKEN_PIPE = 141
DEBUG = "F2SL_DEBUG"
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EIO)


class PartlyFailed(Exception):
    """Error of a command that finished, but part of whose work failed."""


class Reported(DataError):
    """Error about problems that the command has printed already."""


def exit_code_of(work: Callable[[], None], for_good: bool = False, as_json: bool = False) -> int:
    """Run the work, print errors as one line and return the exit code.

    `for_good` is true if the process ends afterwards. With `as_json`, the standard output gets the problems
    as records.
    """
    _prepare_streams()
    interrupts.reset()
    try:
        with interrupts.listening(for_good):
            work()
            sys.stdout.flush()
            interrupts.end()
    except BaseException as error:
        return _report(error, as_json)
    return 0


def _report(error: BaseException, as_json: bool) -> int:
    """Print an error, and return the exit code."""
    if isinstance(error, KeyboardInterrupt) or interrupts.requested:
        return _tell(interrupts.message(), interrupts.exit_code)
    if isinstance(error, BrokenPipeError):
        _drop_output()
        return BROKEN_PIPE
    if isinstance(error, F2SLError):
        if as_json and not isinstance(error, Reported):
            try:
                show_json({"problems": records(error.problems)})
                sys.stdout.flush()
            except OSError:
                _drop_output()
        return _tell(f"error: {error.written(in_shell)}", WRONG_INPUT)
    if isinstance(error, PartlyFailed):
        return _tell(f"error: {error}", FAULT)
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        # Errors of files are F2SLErrors, so this is an error of the standard output.
        _drop_output()
        return _tell(f"error: cannot write to the standard output: {error.strerror}", FAULT)
    short = short_of_addresses()
    if isinstance(error, MemoryError) and not short:
        detail = f" ({error})" if str(error) else ""
        return _tell(f"error: not enough memory{detail}; learn from fewer rows or columns", FAULT)
    if not isinstance(error, Exception):
        raise error
    if short:  # libraries report this in their own words
        return _tell(f"error: {short}", WRONG_INPUT)
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return _tell(f"internal error: {what} (set {DEBUG}=1 for the traceback)", FAULT)


def _drop_output() -> None:
    """Discard buffered output, so that the interpreter does not try to write it on exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _tell(message: str, code: int) -> int:
    line = " ".join(message.splitlines())
    with contextlib.suppress(OSError):
        print(f"f2sl: {printable(line)}", file=sys.stderr, flush=True)
    return code


def _prepare_streams() -> None:
    """Ensure that both streams exist and can print any name in a table."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - for the rest of the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
