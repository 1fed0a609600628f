"""Write files completely or not at all.

The text goes to a temporary file in the same folder, which takes the place of the wanted one in a single step
when it is complete. If anything goes wrong before that, the temporary file is removed and an existing file
stays as it was.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterable
from pathlib import Path

from f2sl.errors import FileError


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
            raise FileError(f"cannot write {path}: {piece!r} cannot be written as UTF-8") from None
        if isinstance(error, OSError) and not isinstance(error, FileError):
            raise FileError(f"cannot write {path}: {error.strerror or error}") from None
        raise


def check_can_write(path: str | os.PathLike[str]) -> None:
    """Check whether :func:`write_atomically` could write `path`; leave nothing behind."""
    target = _real_target(path)
    try:
        temporary, handle = _open_beside(target)
        os.close(handle)
        temporary.unlink()
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from None


def _real_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that the path names, with all links followed; raise an error if it is not writable."""
    try:
        target = Path(path).resolve()
        if target.is_dir():
            raise FileError(f"cannot write {path}: it is a folder")
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {path}: it is not a regular file")
        if not target.parent.is_dir():
            raise FileError(f"cannot write {path}: there is no folder {target.parent}")
        if target.exists() and not os.access(target, os.W_OK):
            raise FileError(f"cannot write {path}: the file is read-only")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
    return target


def _open_beside(target: Path) -> tuple[Path, int]:
    """Create a new, empty file in the folder of `target`, with the usual permissions."""
    temporary = target.parent / f".f2sl-{os.urandom(8).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return temporary, os.open(temporary, flags, 0o666)
