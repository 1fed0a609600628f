"""A process that has imported all of f2sl and forks a process for each command that it is asked to run.

Started by :mod:`cli_process`. Each command has its own process, folder, output and exit code; only importing,
which takes far longer than most commands, is done once.
"""

import atexit
import importlib.util
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading

OPTIONAL = ("f2sl.__main__", "f2sl.search.dag_gnn", "f2sl.data.dask")
"""What takes long to import and what few commands use."""


def import_all():
    """Import all of f2sl, and of f2sl-paper if it is installed."""
    for name in filter(importlib.util.find_spec, ("f2sl", "f2sl_paper")):
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}.", onerror=lambda name: None):
            if not found.name.startswith(OPTIONAL):
                try:
                    importlib.import_module(found.name)
                except ImportError:  # an extra that is not installed
                    continue


def serve(listener):
    """Fork for each request; return its arguments in the process that is to run them."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes in between
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:  # closed: the tests have ended
            os._exit(0)
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return started(connection)
        connection.close()


def started(connection):
    """Start what is asked for, and tell how it ended; return only in the process started."""
    request, streams, _, _ = socket.recv_fds(connection, 1 << 20, 2)
    process = os.fork()
    if process:
        connection.sendall(f"{process}\n".encode())
        _, status = os.waitpid(process, 0)
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    connection.close()
    asked = json.loads(request)
    for number, stream in enumerate([os.open(os.devnull, os.O_RDONLY), *streams]):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    sys.path[:0] = asked["extensions"]
    return asked["arguments"]


def main():
    import_all()
    import f2sl._jit
    from f2sl.cli.app import main as command

    f2sl._jit.note = lambda text: True  # what is compiled by whatever command runs first

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(16)
    print("ready", flush=True)
    arguments = serve(listener)
    listener.close()
    sys.argv = ["f2sl", *arguments]
    code = command()
    # As the interpreter ends, but without the destructors of libraries in C++, some of which wait for threads
    # that a forked process does not have.
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
