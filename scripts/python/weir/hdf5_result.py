# SPDX-License-Identifier: GPL-2.0-only
"""Result files in HDF5: a group is a table, its datasets are the columns."""
import h5py
import numpy
import pandas

from weir.errors import InputError
from weir.result import Result

SIGNATURE = b"\x89HDF\r\n\x1a\n"
PROVENANCE = "provenance"
TEXTS = ("/links/name", "/links/kind", "/links/profile", "/ranks/gpu", "/cases/ended")


def plain(value):
    """An attribute as a Python value."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value.item() if isinstance(value, numpy.generic) else value


def columns_of(group):
    """The datasets of a group that are columns: one-dimensional, by name."""
    return {name: item for name, item in group.items()
            if isinstance(item, h5py.Dataset) and len(item.shape) == 1}


def expect(dataset, kinds, expected):
    """Raises InputError unless the column has a type of one of the kinds: text, integer, number."""
    kind = ("text" if h5py.check_string_dtype(dataset.dtype) else
            {"i": "integer", "u": "integer", "f": "number"}.get(dataset.dtype.kind, "other"))
    if kind not in kinds:
        found = {"text": "texts", "other": f"values of type {dataset.dtype}"}.get(
            kind, f"numbers ({dataset.dtype})")
        group, column = dataset.name.rsplit("/", 1)
        raise InputError(f"{dataset.file.filename}: {group}: column '{column}': found {found}, "
                         f"expected {expected}")


def values_of(dataset):
    """The column as an array; texts as str, numbers that index a catalog as categories.

    Raises InputError for a column of another type than its name, unit or catalog implies.
    """
    units = plain(dataset.attrs.get("units", ""))
    if units:
        expect(dataset, ("integer", "number"), f"numbers in the unit '{units}'")
    if dataset.name in TEXTS:
        expect(dataset, ("text",), "texts")
    catalog = plain(dataset.attrs.get("catalog", ""))
    if catalog:
        expect(dataset, ("integer",), f"whole numbers, rows of {catalog}")
        expect(dataset.file[catalog], ("text",), "texts")
    if h5py.check_string_dtype(dataset.dtype):
        return dataset.asstr()[:]
    values = dataset[:]
    if not catalog:
        return values
    names = dataset.file[catalog].asstr()[:]
    # Two jobs may have labels of one name: one category.
    unique, first = numpy.unique(names, return_index=True)
    order = numpy.argsort(first)
    codes = numpy.empty(len(unique), dtype=numpy.int64)
    codes[order] = numpy.arange(len(unique))
    code = codes[numpy.searchsorted(unique, names)] if len(names) else codes
    return pandas.Categorical.from_codes(code[values], categories=unique[order])


class Hdf5Result(Result):
    """A result file; each table is read when it is first asked for."""

    def __init__(self, path):
        try:
            with h5py.File(path, "r") as file:
                names, provenance, title = self._survey(path, file)
        except (OSError, RuntimeError, KeyError) as error:  # as h5py has it, for damaged files
            raise InputError(f"{path}: found an HDF5 file that cannot be read ({error}), expected "
                             "a whole result of weir") from None
        super().__init__(path, title, names, provenance)

    @staticmethod
    def _survey(path, file):
        """Names of the tables, the provenance and the title."""
        group = file.get(PROVENANCE)
        if group is None or "weir_version" not in group.attrs:
            raise InputError(f"{path}: found an HDF5 file without /provenance of Weir, expected a "
                             "result of weir")
        provenance = {name: plain(value) for name, value in group.attrs.items()}
        for name, item in group.items():
            if isinstance(item, h5py.Dataset) and item.shape == ():
                provenance[name] = plain(item[()])
        names = []
        file.visititems(lambda name, item: names.append(name)
                        if isinstance(item, h5py.Group) and columns_of(item) else None)
        return names, provenance, plain(file.attrs.get("title", ""))

    def _read(self, name):
        try:
            with h5py.File(self.path, "r") as file:
                return self._frame(file[name])
        except InputError:
            raise
        except (OSError, RuntimeError, KeyError, IndexError, ValueError, TypeError) as error:
            raise InputError(f"{self.path}: /{name} cannot be read: {error}") from None

    @staticmethod
    def _frame(group):
        """The group as a frame; its counting column, the dimension scale, is the index."""
        columns = columns_of(group)
        frame = pandas.DataFrame({key: values_of(item) for key, item in columns.items()
                                  if not h5py.h5ds.is_scale(item.id)})
        for key, item in columns.items():
            if h5py.h5ds.is_scale(item.id):
                frame.index = pandas.Index(item[:], name=key)
        frame.attrs = {key: plain(value) for key, value in group.attrs.items()}
        frame.attrs["units"] = {key: plain(item.attrs.get("units", ""))
                                for key, item in columns.items()}
        frame.attrs["long_name"] = {key: plain(item.attrs.get("long_name", key))
                                    for key, item in columns.items()}
        return frame
