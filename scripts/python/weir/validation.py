# SPDX-License-Identifier: GPL-2.0-only
"""Suites of a validation file: predictions beside what they are compared with."""
import numpy
import pandas

from weir.errors import Missing

FOLDER = "validation/"
REMEDY = "weir validate SUITE -o RESULT.h5 writes it"


def suites_of(result):
    """The cases of every suite by its name, in the order of the names."""
    names = [name[len(FOLDER):] for name in result.tables if name.startswith(FOLDER)]
    return {name: result.table(FOLDER + name) for name in names if "/" not in name}


def is_group(cases):
    """Whether a suite repeats the cases of others, which the file has, too."""
    return cases.attrs["kind"] == "group"


def pairs_of(result):
    """suite, case, unit, measured and predicted of every case that has an error.

    Its `attrs` hold the words for measured and predicted by suite. Cases of groups are
    those of other suites, and those of bounds are counts.
    """
    pieces, words = [], {}
    for name, cases in suites_of(result).items():
        if is_group(cases) or cases.attrs["kind"] == "bounds" or cases.empty:
            continue
        piece = cases[["case", "measured", "predicted"]].copy()
        piece.insert(1, "unit", cases.attrs["units"]["measured"])
        piece.insert(0, "suite", name)
        pieces.append(piece)
        words[name] = [cases.attrs["long_name"][column] for column in ("measured", "predicted")]
    if not pieces:
        raise Missing("there are no cases with an error", REMEDY)
    frame = pandas.concat(pieces, ignore_index=True)
    frame.attrs["words"] = words
    return frame


def errors_of(result):
    """suite, case, error and share: the part of the suite's cases with an error of no more.

    Errors are absolute, relative to what is measured, and in order.
    """
    frame = pairs_of(result)
    frame["error"] = (frame["predicted"] / frame["measured"] - 1).abs()
    frame = frame.sort_values("error", kind="stable").sort_values("suite", kind="stable")
    suites = frame.groupby("suite", sort=False)["error"]
    frame["share"] = (suites.cumcount() + 1) / suites.transform("size")
    return frame[["suite", "case", "error", "share"]].reset_index(drop=True)


def bandwidths_of(result):
    """suite, run, collective, size_bytes and the two bus bandwidths of measured collectives."""
    pieces = []
    for name, cases in suites_of(result).items():
        if "size_bytes" in cases:
            piece = cases[["run", "collective", "size_bytes", "measured_busbw_GBps",
                           "predicted_busbw_GBps"]].copy()
            piece.insert(0, "suite", name)
            pieces.append(piece)
    if not pieces:
        raise Missing("there are no measured collectives", "weir validate nccl -o RESULT.h5 "
                      "writes them")
    return pandas.concat(pieces, ignore_index=True)


def bounds_of(result):
    """Bounds of fresh cases, a row a case and coverage; `attrs` has the coverage that is checked."""
    tables = [f"{FOLDER}{name}/bounds" for name, cases in suites_of(result).items()
              if cases.attrs["kind"] == "bounds"]
    if not tables or not len(result.table(tables[0])):
        raise Missing("there are no error bounds of fresh cases", "weir validate bound -o "
                      "RESULT.h5 writes them")
    return result.table(tables[0])


def reliability(bounds):
    """of, coverage, cases and observed: the part of the cases that lie within their bounds."""
    rows = bounds.assign(observed=(bounds["ratio"] >= bounds["lower"]) &
                         (bounds["ratio"] <= bounds["upper"]))
    groups = rows.groupby(["of", "coverage"], sort=False)["observed"]
    return groups.agg(cases="size", observed="mean").reset_index()


def widths(bounds, coverage):
    """of, width and share: the part of the bounds of a coverage that are no wider."""
    rows = bounds[bounds["coverage"] == coverage]
    rows = rows.assign(width=rows["upper"] - rows["lower"]).sort_values("width", kind="stable")
    groups = rows.groupby("of", sort=False)["width"]
    rows["share"] = (groups.cumcount() + 1) / groups.transform("size")
    return rows[["of", "width", "share"]].reset_index(drop=True)


def errors_by_size(bounds, coverage, regimes, cases):
    """regime, bytes, error, lower and upper of fresh collectives, relative to the estimate.

    Of the regimes of fidelity stream with so many cases those with the widest bounds, the widest
    first.
    """
    rows = bounds[(bounds["coverage"] == coverage) & (bounds["of"] == "collectives") &
                  bounds["regime"].str.startswith("stream")]
    rows = rows.assign(error=rows["ratio"] - 1, lower=rows["lower"] - 1, upper=rows["upper"] - 1)
    own = {name: piece for name, piece in rows.groupby("regime") if len(piece) >= cases}
    widest = sorted(own, key=lambda name: own[name]["lower"].iloc[0] - own[name]["upper"].iloc[0])
    columns = ["regime", "bytes", "error", "lower", "upper"]
    return pandas.concat([own[name][columns] for name in widest[:regimes]] or
                         [pandas.DataFrame(columns=columns, dtype=numpy.float64)],
                         ignore_index=True)
