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
            raise InputError(f"{option}: cannot write '{path}': it is a folder, expected a file")
        if target.exists() and not target.is_file():
            raise InputError(f"{option}: cannot write '{path}': it is a device or a pipe, expected "
                             "a file")
        if not os.access(target.resolve().parent, os.W_OK | os.X_OK):
            raise InputError(f"{option}: cannot write '{path}': there is no folder "
                             f"'{target.parent}' that can be written to")

    def add(self, path, content):
        """Notes a file."""
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
