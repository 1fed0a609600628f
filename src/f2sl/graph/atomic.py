"""Write files completely or not at all, and keep other processes from writing to the same place.

The text goes to a temporary file in the same folder, which takes the place of the wanted one in a single step
when it is complete. If anything goes wrong before that, the temporary file is removed and an existing file
stays as it was.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from f2sl.errors import FileError

FAR_BEYOND = 1 << 30
"""Position of the byte of a file that is locked on Windows."""


def write_atomically(path: str | os.PathLike[str], content: str | bytes | Iterable[str]) -> None:
    """Write `content` to `path`, as a whole or not at all; text is written as UTF-8.

    Parameters
    ----------
    path
        Path to write to; an existing file is replaced, and a link is followed.
    content
        Text, bytes, or pieces of text that are written as they come.

    Raises
    ------
    FileError
        If the folder does not exist, or the file cannot be written there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "note.txt", "done")
    ...     (Path(folder) / "note.txt").read_text()
    'done'
    """
    target = _real_target(path)
    temporary = None
    try:
        temporary, handle = _open_beside(target)
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
                    text.writelines([content] if isinstance(content, str) else content)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()
        if isinstance(error, UnicodeEncodeError):
            piece = error.object[error.start : error.end]
            raise FileError(
                f"cannot write {path}: {piece!r} cannot be written as UTF-8", path=str(path)
            ) from None
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise FileError(f"cannot write {path}: {error.strerror or error}", path=str(path)) from None
        raise


def check_can_write(path: str | os.PathLike[str]) -> None:
    """Check whether :func:`write_atomically` could write `path`; leave nothing behind."""
    target = _real_target(path)
    try:
        temporary, handle = _open_beside(target)
        os.close(handle)
        temporary.unlink()
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}", path=str(path)) from None


@contextlib.contextmanager
def claimed(path: Path, refusal: str) -> Iterator[None]:
    """Keep other processes from claiming the same folder or lock file; they get a FileError.

    The lock belongs to the system, which releases it when the process ends in any way.
    """
    if path.is_dir() and sys.platform == "win32":  # where folders cannot be opened
        path = path / ".lock"
    lock = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT)
    try:
        try:
            _lock(lock)
        except OSError:
            raise FileError(refusal, path=str(path)) from None
        yield
    finally:
        os.close(lock)


def _real_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that the path names, with all links followed; raise an error if it is not writable."""
    try:
        target = Path(path).resolve()
        if target.is_dir():
            raise FileError(f"cannot write {path}: it is a folder", path=str(path))
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {path}: it is not a regular file", path=str(path))
        if not target.parent.is_dir():
            raise FileError(f"cannot write {path}: there is no folder {target.parent}", path=str(path))
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"cannot write {path}: the file is read-only", path=str(path))
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"cannot write {path}: {getattr(error, 'strerror', None) or error}", path=str(path)
        ) from None
    return target


def _open_beside(target: Path) -> tuple[Path, int]:
    """Create a new, empty file in the folder of `target`, with the usual permissions."""
    temporary = target.parent / f".f2sl-{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return temporary, os.open(temporary, flags, 0o666)


def _lock(file: int) -> None:
    """Lock an open file; OSError if another process has."""
    if sys.platform == "win32":
        import msvcrt

        # Nobody else can read what is locked there, hence a byte beyond the end.
        os.lseek(file, FAR_BEYOND, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
