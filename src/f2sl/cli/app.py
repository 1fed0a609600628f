"""Entry point: from the arguments of a process to its exit code.

This module imports very little. :func:`~f2sl.cli.errors.exit_code_of` imports the rest, so that an interrupt
during a slow import is handled like one during the work.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments; those of the process by default.

    Returns
    -------
    int
        0 for success, 2 for wrong input, 130 if interrupted, 143 if ended by SIGTERM, 141 if the reader of
        the output stopped reading, 1 for anything else.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    f2sl ...
    0
    """
    try:
        from f2sl.cli.errors import exit_code_of
    except KeyboardInterrupt:
        print("f2sl: interrupted; nothing was written", file=sys.stderr)
        return 130
    if arguments is None:
        # Modules are hundreds of thousands of permanent objects; searching them for garbage again and
        # again takes a tenth of a second.
        gc.set_threshold(250_000)
    given = list(sys.argv[1:] if arguments is None else arguments)

    def work() -> None:
        from f2sl.cli.program import run

        run(given)

    as_json = "--json" in given[: given.index("--") if "--" in given else None]
    code = exit_code_of(work, for_good=arguments is None, as_json=as_json)
    if arguments is None:
        # After an interrupt there may be millions of objects. The interpreter would search them for garbage
        # several times before the process ends, for seconds.
        gc.freeze()
        threads = sys.modules.get("f2sl._threads")
        if threads is not None and threads.unfinished_calls():
            atexit._run_exitfuncs()
            sys.stderr.flush()
            os._exit(code)  # nobody waits for them, and libraries must not be unloaded under them
    return code
