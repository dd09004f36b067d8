# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidths by message size, with their bounds."""
import pandas

from weir.errors import Missing

NEEDED = ("size_bytes", "busbw_GBps")


def sweep_of(result):
    """The table of a result that holds bandwidths by size, wherever it is; None without one."""
    if result.is_sweep:
        return None  # of many cases, not of one
    return next((result.table(name) for name in result.tables if result.has(name, *NEEDED)), None)


def rows_of(result, kind):
    """result, kind (simulated, measured), collective, size_bytes, busbw_GBps and bounds, if any."""
    sweep = sweep_of(result)
    if sweep is None:
        raise Missing("there is no bus bandwidth by size",
                      "weir collective --system S --op all-reduce --csv RESULT.csv writes it")
    frame = drawn_columns(sweep)
    frame.insert(0, "kind", kind)
    frame.insert(0, "result", result.label)
    return frame


def drawn_columns(sweep):
    """The columns that are drawn; bounds on time become bounds on bus bandwidth."""
    frame = pandas.DataFrame({"collective": sweep["collective"].astype(str)
                              if "collective" in sweep else "", "size_bytes": sweep["size_bytes"],
                              "busbw_GBps": sweep["busbw_GBps"]})
    if {"time_us", "lower_us", "upper_us"} <= set(sweep):
        frame["busbw_lower_GBps"] = sweep["busbw_GBps"] * sweep["time_us"] / sweep["upper_us"]
        frame["busbw_upper_GBps"] = sweep["busbw_GBps"] * sweep["time_us"] / sweep["lower_us"]
    return frame
