# SPDX-License-Identifier: GPL-2.0-only
"""Opens a result of any kind."""
import os

from weir.errors import InputError
from weir.hdf5_result import SIGNATURE, Hdf5Result
from weir.text_results import EXPECTED, read_csv, read_json, refuse_device, unreadable


def open_result(path):
    """The result in a file: HDF5, CSV of weir collective or weir flows, JSON of weir run.

    Raises InputError, which names the file, for everything else.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            refuse_device(path, file, EXPECTED)
            start = file.read(len(SIGNATURE))
            if start == SIGNATURE:
                return Hdf5Result(path)
            content = start + file.read()
    except OSError as error:
        raise unreadable(path, error, EXPECTED) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: found bytes that are no text, {EXPECTED}") from None
    return read_json(path, text) if text.lstrip()[:1] == "{" else read_csv(path)
