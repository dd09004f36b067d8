# SPDX-License-Identifier: GPL-2.0-only
"""The scale table of the fluid benchmark: only Weir, from few ranks to many."""
import math
import statistics

from fluid_cell import PATTERNS, OverLimit, flows_of, run

FABRICS = ["switch", "rail", "fat-tree"]
RANKS = [64, 256, 1024, 4096, 16384]
COLUMNS = ["fabric", "pattern", "ranks", "flows", "status", "cpu_s", "flows_per_s",
           "bytes_per_flow", "peak_bytes", "estimate_s", "estimate_bytes"]
HOPELESS = 2  # a cell whose estimate is above so many limits is not run


class Series:
    """The cells of one fabric and pattern, from few ranks to many."""

    def __init__(self):
        self.times = []  # (flows, seconds), the last at least that where it is over the limit
        self.bytes_per_flow = 0

    def seconds(self, flows):
        """By the power law through the last two; in proportion where there is one."""
        if not self.times:
            return 0
        last_flows, last = self.times[-1]
        power = 1.0
        if len(self.times) > 1:
            before_flows, before = self.times[-2]
            power = max(1.0, math.log(last / before) / math.log(last_flows / before_flows))
        return last * (flows / last_flows) ** power

    def bytes(self, flows, empty):
        """In proportion to the flows."""
        return empty + self.bytes_per_flow * flows


def over(limits, which):
    """What the status says of a cell that takes more than its time or memory."""
    return f"over {limits.limit} s" if which == "time" else f"over {limits.memory:g} GiB"


def measure(args, program, names, series):
    """One row; the series learns from it."""
    fabric, pattern, ranks = names
    flows = flows_of(program, pattern, ranks)
    row = {"fabric": fabric, "pattern": pattern, "ranks": ranks, "flows": flows}
    empty = run(program, [fabric, "none", ranks], args.limit, args.memory)[2]
    seconds, size = series.seconds(flows), series.bytes(flows, empty)
    hopeless = "time" if seconds > HOPELESS * args.limit else (
        "memory" if size > args.memory * 2**30 else None)
    try:
        if hopeless:
            raise OverLimit(hopeless)
        runs = [run(program, [*names, args.seed], args.limit, args.memory)
                for _ in range(args.repeat)]
    except OverLimit as limit:
        row["status"] = ("not run: " if hopeless else "") + over(args, str(limit))
        if str(limit) == "time" and not hopeless:
            seconds = max(seconds, float(args.limit))
            series.times.append((flows, seconds))
        row["estimate_s"] = float(f"{seconds:.2g}")
        row["estimate_bytes"] = float(f"{size:.2g}")
        return row
    row["status"] = "measured"
    row["cpu_s"] = statistics.median(r[1] for r in runs)
    row["flows_per_s"] = round(flows / row["cpu_s"])
    row["peak_bytes"] = int(statistics.median(r[2] for r in runs))
    row["bytes_per_flow"] = round(max(0, row["peak_bytes"] - empty) / flows, 1)
    series.times.append((flows, row["cpu_s"]))
    series.bytes_per_flow = row["bytes_per_flow"]
    return row


def cells(args):
    """(fabric, pattern) to go through."""
    return [(f, p) for f in FABRICS for p in PATTERNS
            if not args.only or args.only & {f, p}]


def rows(args, program):
    """Yields the table row by row."""
    for fabric, pattern in cells(args):
        series = Series()
        for ranks in sorted(args.ranks or RANKS):
            yield measure(args, program, (fabric, pattern, ranks), series)
