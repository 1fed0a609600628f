"""The command in a process of its own, and a small table whose graph can be told by hand."""

import atexit
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path

# The command as users have it: compiled, and with no say of the terminal that the tests run in.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("NUMBA_DISABLE_JIT", "F2SL_DEBUG", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE")
}
SCRIPT = str(Path(sys.executable).with_name("f2sl"))
MODULE = (sys.executable, "-m", "f2sl")
SECONDS = 120


@cache
def _warm():
    """Start the process that runs commands for :func:`f2sl`; return the path of its socket."""
    folder = tempfile.TemporaryDirectory(prefix="f2sl-")
    path = Path(folder.name, "commands")
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("warm_cli.py")), str(path)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def end():
        server.stdin.close()
        server.wait()
        server.stdout.close()
        folder.cleanup()

    atexit.register(end)
    assert server.stdout.readline() == b"ready\n"
    return str(path)


def f2sl(*arguments, folder=None, extensions=(), **how):
    """Run a command to its end, in a process of its own.

    It is forked from one that has imported f2sl already, unless `how` (see :func:`installed`) asks for more.
    `extensions` are folders with packages beside those that are installed.
    """
    if how:
        return installed(*arguments, folder=folder, **how)
    asked = {
        "arguments": [str(argument) for argument in arguments],
        "folder": str(folder or Path.cwd()),
        "extensions": [str(place) for place in extensions],
    }
    with (
        socket.socket(socket.AF_UNIX) as connection,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as errors,
    ):
        connection.settimeout(SECONDS)
        connection.connect(_warm())
        socket.send_fds(connection, [json.dumps(asked).encode()], [out.fileno(), errors.fileno()])
        with connection.makefile() as told:
            process = int(told.readline())
            try:
                code = int(told.readline())
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                raise
        out.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(["f2sl", *asked["arguments"]], code, out.read(), errors.read())


def installed(*arguments, command=(SCRIPT,), folder=None, **environment):
    """Run the installed command to its end, from nothing; what it says about compiling is left out."""
    done = subprocess.run(
        [*command, *map(str, arguments)],
        cwd=folder,
        env={**ENVIRONMENT, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    done.stderr = re.sub(r"f2sl: (compiling the inner loops|\d+ compiled so far).*\n", "", done.stderr)
    return done


def together(calls):
    """Call functions without arguments, as many at a time as there are cores; return what they return."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda call: call(), calls))


def learned(*arguments, **options):
    """Run a command that must succeed without a word on the standard error; return what it printed."""
    done = f2sl(*arguments, **options)
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def children_of(pid):
    """The processes that a process has started, from Linux's files on processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(folder.name))
    return found


def descendants_of(pid):
    own = children_of(pid)
    return own + [far for near in own for far in descendants_of(near)]


def is_gone(pid):
    try:
        os.kill(pid, 0)
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]
    except (ProcessLookupError, FileNotFoundError):
        return True


def small_table():
    """Five causes and effects with exact frequencies.

    a, b, d and e are fair coins, every combination 25 times; c is "a or b"; f is e, but the other way
    round in 5 of each 25. So a -> c <- b is a v-structure, e - f can point either way, d stands alone, and
    (in bits) SU(a, c) = 2 (h(1/4) - 1/2) / (h(1/4) + 1) = 0.3437, SU(e, f) = 1 - h(1/5) = 0.2781.
    """
    rows = [(a, b, d, e, turned) for a, b, d, e in product((0, 1), repeat=4) for turned in range(25)]
    return {
        "a": ["ny"[a] for a, *_ in rows],
        "b": ["ny"[b] for _, b, *_ in rows],
        "c": [a | b for a, b, *_ in rows],
        "d": [d for _, _, d, *_ in rows],
        "e": [e for *_, e, _ in rows],
        "f": [e ^ (turned < 5) for *_, e, turned in rows],
    }


def write_csv(path, columns, delimiter=","):
    lines = [columns, *zip(*columns.values(), strict=True)]
    path.write_text("".join(delimiter.join(map(str, line)) + "\n" for line in lines))
    return path


def heed_interrupts():
    """Be interruptible even where the tests themselves run in the background and are not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(arguments, folder, stages, number=signal.SIGINT):
    """Interrupt a command once its terminal shows a stage; return exit code, seconds and what was shown."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [SCRIPT, *map(str, arguments)],
        cwd=folder,
        env={**ENVIRONMENT, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        preexec_fn=heed_interrupts,
    ) as process:
        os.close(theirs)
        shown, asked = b"", 0.0
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not asked and any(stage.encode() in shown for stage in stages):
                asked = time.monotonic()
                process.send_signal(number)
        code = process.wait()
        os.close(ours)
    return code, time.monotonic() - asked, shown.decode()
