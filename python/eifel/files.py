"""Writes files that appear whole or not at all, and survive a stop of the process or the machine."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from eifel.errors import BadInputError

MOST_WRITTEN = 64_000_000
"""The most bytes in a file written by hand. The limit catches devices that never end."""


def put(file: Path, content: bytes) -> None:
    """Writes a file. Its content is on disk before it gets its name."""
    with opened(file) as out:
        out.write(content)


def expect_folder(place: Path) -> None:
    """Raises BadInputError if something other than a folder has this name. The folder need not exist."""
    if place.exists() and not place.is_dir():
        raise BadInputError(f"{place}: a file; expected the name of a folder")


def expect_file(place: Path) -> None:
    """Raises BadInputError if no file can have this name: it is a folder, or its parent does not exist."""
    if place.is_dir():
        raise BadInputError(f"{place}: a folder; expected the name of a file")
    if not place.parent.is_dir():
        raise BadInputError(f"{place}: there is no folder {place.parent}")


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Opens a file that gets its name if the block succeeds, and disappears otherwise.

    Pipes, devices and other special files are written to directly. A symbolic link is followed.
    """
    expect_file(file)
    place, file = file, Path(os.path.realpath(file))
    if file.exists() and not file.is_file():
        with file.open("wb") as out:
            yield out
        return
    partial = partial_of(file)
    with _named(place, partial):
        try:
            with partial.open("wb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            partial.replace(file)
            sync_folder(file.parent)
        finally:
            partial.unlink(missing_ok=True)


@contextmanager
def replaced(place: Path) -> Iterator[Path]:
    """Makes a folder to be filled. If the block succeeds, it replaces the folder `place`."""
    place.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(place.parent, place.name)
    partial = partial_of(place)
    old = place.with_name(f".{place.name}.old-{os.getpid()}")
    with _named(place, partial, old):
        for leftover in (partial, old):
            remove(leftover)
        try:
            partial.mkdir()
            yield partial
            sync_tree(partial)
            if place.exists():
                place.rename(old)
            partial.rename(place)
            sync_folder(place.parent)
        finally:
            if old.exists() and not place.exists():
                old.rename(place)
            remove(partial)
            remove(old)


@contextmanager
def _named(place: Path, *unfinished: Path) -> Iterator[None]:
    """Makes errors about an unfinished file or folder, or something in it, name `place` instead."""
    try:
        yield
    except OSError as error:
        for one in unfinished:
            if error.filename and Path(error.filename).is_relative_to(one):
                error.filename, error.filename2 = str(place / Path(error.filename).relative_to(one)), None
        raise


def partial_of(place: Path) -> Path:
    """Returns the path at which this process makes a file before it gets its name."""
    return place.with_name(f".{place.name}.partial-{os.getpid()}")


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    """Waits until everything below a folder is on disk."""
    for place in sorted(folder.rglob("*")):
        sync_folder(place)
    sync_folder(folder)


def read_text(file: Path, name: str = "") -> str:
    """Reads a file written by hand. Errors call it `name`.

    Raises BadInputError if the file cannot be read, is no text, or is too long.
    """
    name = name or str(file)
    try:
        with file.open("rb") as content:
            written = content.read(MOST_WRITTEN + 1)
        if len(written) > MOST_WRITTEN:
            raise BadInputError(f"{name}: more than {MOST_WRITTEN // 1_000_000} MB; expected a file written by hand")
        return written.decode("utf-8-sig")
    except OSError as error:
        raise BadInputError(f"{name}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{name}: not a text file in UTF-8 (byte {error.start})") from None


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Removes unfinished files and folders of ended processes from a folder, for one name or for all."""
    for place in folder.glob(".*-*"):
        made, _, process = place.name.rpartition("-")
        begun, _, kind = made.removeprefix(".").rpartition(".")
        if kind in ("partial", "old") and name in ("", begun) and process.isdecimal() and not _is_alive(int(process)):
            remove(place)


def remove(place: Path) -> None:
    """Removes a file, or a folder with everything below it. Does nothing if it does not exist."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def digest(file: Path) -> str:
    """Returns the SHA-256 of a file's content."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
