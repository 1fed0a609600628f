"""Interrupts by Ctrl-C at any time; files are written completely or not at all.

SIGTERM, which ``kill`` and ``timeout`` send, is handled like Ctrl-C, with its own exit code.

A ``KeyboardInterrupt`` can get lost: raised in a callback of some library it is printed and forgotten,
raised inside an import it may come out as another error. So the signal is remembered as well, and checked
before anything is written and when the work ends. An interrupt that a callback has lost is raised again
a moment later.

A learner that is interrupted with some of its work finished says so by raising
:class:`~f2sl.errors.Interrupted`. The partial result is then written and shown as usual, marked as
incomplete, and the interrupt takes effect at the end of the command. A second Ctrl-C ends it at once.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HEARD = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""Signals that interrupt, each with Python's default handler."""
SAME_SECONDS = 0.5
"""``timeout`` sends SIGTERM to a process and to its group: a second signal within this time is ignored."""
REPEAT_AFTER = 0.05
"""Seconds after which a lost interrupt is raised again, outside the callback that lost it."""
_SHOW_CURSOR = b"\x1b[?25h"


class Interrupts:
    """Interrupts and written files of one run of the command line."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin a new run."""
        self.requested = False
        self._number: int = signal.SIGINT
        self._since = 0.0
        self._put_off = False
        self._repeated = False
        self._saving = False
        self._kept = ""
        self._before: dict[Path, int | None] = {}

    @property
    def exit_code(self) -> int:
        """Exit code of an interrupted process."""
        return 128 + self._number

    @contextmanager
    def listening(self, for_good: bool) -> Iterator[None]:
        """Handle the signals during a ``with`` block, unless the process ignores them.

        Afterwards they are handled as before. If the process ends `for_good`, Ctrl-C is ignored: a second
        one must not change the exit code.
        """
        here = threading.current_thread() is threading.main_thread()
        heard = {
            number: usual for number, usual in HEARD.items() if here and signal.getsignal(number) is usual
        }
        if not heard:
            yield
            return
        hook = sys.unraisablehook

        def tell_unless_interrupted(lost: Any) -> None:
            if not isinstance(lost.exc_value, KeyboardInterrupt):
                hook(lost)
                return
            self._repeated = True
            again = threading.Timer(REPEAT_AFTER, self._repeat)
            again.daemon = True
            again.start()

        for number in heard:
            signal.signal(number, self._heard)
        sys.unraisablehook = tell_unless_interrupted
        try:
            yield
        finally:
            sys.unraisablehook = hook
            self._repeated = False
            for number, usual in heard.items():
                ends = for_good and number == signal.SIGINT
                signal.signal(number, signal.SIG_IGN if ends else usual)

    def _repeat(self) -> None:
        """Raise the interrupt again, in the main thread, unless that is over."""
        main = threading.main_thread().ident
        if not self._repeated or main is None:
            return
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main, self._number)  # wakes the thread where it waits
        else:
            _thread.interrupt_main()

    def _heard(self, number: int, frame: Any) -> None:
        if self._repeated:
            self._repeated = False
        elif not self.requested:
            self._number = number
            self._since = time.monotonic()
        elif number == signal.SIGTERM and time.monotonic() < self._since + SAME_SECONDS:
            return
        elif not self._saving:
            # Asked a second time: do not wait for threads to finish their piece of work.
            text = f"f2sl: {self.message()}\n".encode(errors="backslashreplace")
            os.write(2, (_SHOW_CURSOR if os.isatty(2) else b"") + text)
            os._exit(self.exit_code)
        self.requested = True
        raise KeyboardInterrupt

    def put_off(self) -> None:
        """Delay the interrupt until the command has written and shown the partial result."""
        self._put_off = True

    def keeping(self, what: str) -> None:
        """Set the message about results that are stored as they are finished."""
        self._kept = what

    def check(self) -> None:
        """Raise an interrupt that was requested and lost."""
        if self.requested and not self._put_off:
            raise KeyboardInterrupt

    def end(self) -> None:
        """Raise at the end of the work any interrupt that was requested."""
        if self.requested or self._put_off:
            raise KeyboardInterrupt

    @contextmanager
    def saving(self, path: Path) -> Iterator[None]:
        """Protect the writing of a file from interrupts, and record whether it was written."""
        self.check()
        self._before[path] = _identity(path)
        self._saving = True
        try:
            yield
        finally:
            self._saving = False

    def message(self) -> str:
        """Return the message that the work was interrupted, with the files that were written before."""
        if self._kept:
            return f"interrupted; {self._kept}"
        # A file that is written whole takes the place of the old one: it is another file then.
        written = [str(path) for path, before in self._before.items() if _identity(path) != before]
        text = f"interrupted; {', '.join(written) or 'nothing'} was written"
        return f"{text}, incomplete" if written and self._put_off else text


def _identity(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


interrupts = Interrupts()
