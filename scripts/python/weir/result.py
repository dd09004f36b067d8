# SPDX-License-Identifier: GPL-2.0-only
"""A result of Weir as pandas frames, whatever file it is in."""
import pathlib

from weir.errors import InputError
from weir.network import crossing


class Result:
    """Tables of one result: `result.steps`, or `result.table("steps")`, is a pandas frame.

    A frame has the names of the file's columns. Its `attrs` hold the attributes of the table and
    two maps by column: `units` ("s", "B", "1"; "" for texts and identities) and `long_name`.
    """

    def __init__(self, path, title, names, provenance):
        self.path = str(path)
        self.label = pathlib.Path(path).stem  #: a short name for legends
        self.title = title
        self.provenance = provenance  #: the attributes, and under "scenario" its YAML
        self._names = list(names)
        self._frames = {}

    @property
    def tables(self):
        """The names of the tables that the file has."""
        return list(self._names)

    @property
    def is_sweep(self):
        """Whether it holds cases of weir sweep, not one run."""
        return "cases" in self and "results" in self

    @property
    def kind(self):
        """What it holds: "run", "sweep" or "validation"."""
        is_validation = any(name.startswith("validation/") for name in self._names)
        return "sweep" if self.is_sweep else "validation" if is_validation else "run"

    def __contains__(self, name):
        return name in self._names

    def has(self, name, *columns):
        """Whether the table is there with these columns and at least one row."""
        return name in self and len(self.table(name)) > 0 and set(columns) <= set(self.table(name))

    def table(self, name):
        """The table as a frame; read once.

        Raises InputError where the file has no such table.
        """
        if name not in self._names:
            raise InputError(self._no_table(name))
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._names:
            raise AttributeError(self._no_table(name))
        return self.table(name)

    def __dir__(self):
        return [*super().__dir__(), *(name for name in self._names if name.isidentifier())]

    def __repr__(self):
        return f"<weir.Result {self.title!r}: {', '.join(self._names)}>"

    def flows_on(self, link):
        """The rows of `flows` whose path crosses the link named, in order of their start.

        The column `share` is added: bytes * share cross the link. Raises InputError for an
        unknown link, and where the result has no paths.
        """
        return crossing(self, link)

    def series(self, link):
        """What the link named carried by time: bytes, rate (B/s) and utilization of each bin.

        The index is the start of the bin in s; bins without traffic are 0. Raises InputError for an
        unknown link, and where the result has no link series.
        """
        bins = self.table("link_series")
        links = self.table("links").set_index("name")
        if link not in links.index:
            raise InputError(f"{self.path}: found no link '{link}', expected a name of /links")
        width = bins.attrs["bin_width_s"]
        own = bins[bins["link"] == link]
        last = int(bins["bin"].max()) if len(bins) else -1
        frame = own.groupby("bin")["bytes"].sum().reindex(
            range(last + 1), fill_value=0.0).to_frame()
        frame.index = frame.index * width
        frame.index.name = "start"
        frame["rate"] = frame["bytes"] / width
        frame["utilization"] = frame["rate"] / links.loc[link, "rate"]
        frame.attrs = {"units": {"start": "s", "bytes": "B", "rate": "B s-1", "utilization": "1"}}
        return frame

    def _no_table(self, name):
        return (f"{self.path}: found no table '{name}', expected one of: "
                f"{', '.join(self._names)}")

    def _read(self, name):
        raise NotImplementedError


def tell_apart(results):
    """Gives results of one label others: their paths, numbered where these are equal, too."""
    for result in results:
        same = [other for other in results if other.label == result.label]
        if len(same) > 1:
            for other in same:
                other.label = str(pathlib.Path(other.path).with_suffix(""))
    seen = {}
    for result in results:
        seen[result.label] = seen.get(result.label, 0) + 1
        if seen[result.label] > 1:
            result.label += f"-{seen[result.label]}"


class TextResult(Result):
    """A result whose tables are in memory already: of a CSV or JSON file."""

    def __init__(self, path, title, frames, provenance):
        super().__init__(path, title, frames, provenance)
        self._frames = dict(frames)
