# SPDX-License-Identifier: GPL-2.0-only
"""Files to write: all of them or none."""
import os
import pathlib

from weir.errors import InputError


class OutputFiles:
    """Collects files by name; `commit` writes them all, or leaves nothing behind.

    Inputs are never overwritten.
    """

    def __init__(self, inputs):
        self._inputs = [pathlib.Path(path) for path in inputs]
        self._contents = {}

    def check(self, option, path):
        """Raises InputError where a file cannot be written there."""
        target = pathlib.Path(path)
        for given in self._inputs:
            if target.exists() and given.exists() and target.samefile(given):
                raise InputError(f"{option}: found '{path}', expected another file than the input "
                                 f"'{given}'")
        if target.is_dir():
            raise InputError(f"{option}: found '{path}', which is a folder, expected a file")
        if target.exists() and not target.is_file():
            raise InputError(f"{option}: found '{path}', which is a device or a pipe, expected a "
                             "file")
        try:
            folder = target.resolve().parent
        except (OSError, RuntimeError):
            raise InputError(f"{option}: found '{path}', a link that leads to no file, expected a "
                             "file") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{option}: found '{path}' in '{target.parent}', which is no folder "
                             "that can be written to, expected a file in one that can")

    def add(self, option, path, content, kind):
        """Notes a file of a kind: html, svg, pdf, png or csv.

        Raises InputError where it would replace a file of another kind.
        """
        beginning = content[:content.find(b",") if kind == "csv" else 4]
        target = pathlib.Path(path)
        if target.is_file():
            with open(target, "rb") as file:
                start = file.read(len(beginning))
            if start and start != beginning:
                raise InputError(f"{option}: found '{path}', which is no {kind.upper()} that weir "
                                 "has written, expected another name")
        self._contents[pathlib.Path(path).resolve()] = content

    def commit(self):
        """Writes every file under a temporary name, then gives all of them theirs.

        Raises OSError where that fails, and leaves nothing half written.
        """
        written = {}
        try:
            for path, content in self._contents.items():
                temporary = path.with_name(f"{path.name}.partial-{os.getpid()}")
                written[temporary] = path
                temporary.write_bytes(content)
            for temporary, path in written.items():
                os.replace(temporary, path)
        finally:
            for temporary in written:
                temporary.unlink(missing_ok=True)
