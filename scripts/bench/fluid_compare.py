# SPDX-License-Identifier: GPL-2.0-only
"""The comparison of the fluid benchmark: Weir and SimGrid on the same flows, in pairs."""
import statistics

from fluid_cell import FABRICS, PATTERNS, OverLimit, flows_of, run

RANKS = [16, 32, 64, 128, 256]
MODES = ["Lazy", "Full"]
COLUMNS = ["fabric", "pattern", "ranks", "flows", "weir_cpu_s", "weir_flows_per_s",
           "simgrid_mode", "simgrid_cpu_s", "ratio", "max_difference",
           "lazy_cpu_s", "lazy_difference", "full_cpu_s", "full_difference"]


def difference(a, b):
    """The largest relative difference of two files of finish times."""
    with open(a, encoding="ascii") as x, open(b, encoding="ascii") as y:
        return max(abs(float(p) - float(q)) / float(q) for p, q in zip(x, y, strict=True))


class Cell:
    """The runs of one fabric, pattern and number of ranks."""

    def __init__(self, args, programs, scratch, names):
        self.args = args
        self.programs = programs
        self.weir_out, self.simgrid_out = scratch / "weir.txt", scratch / "simgrid.txt"
        self.arguments = [*names, args.seed]
        self.weir = []
        self.simgrid = {mode: [] for mode in MODES}
        self.differences = {}
        self.over = set()

    def play(self, program, *more):
        """Seconds of CPU time."""
        figures = run(program, [*self.arguments, *more], self.args.limit, self.args.memory)
        return figures[1]

    def play_simgrid(self, mode):
        """One run in that mode, and how far it is off."""
        try:
            seconds = self.play(self.programs["simgrid"], self.simgrid_out, mode,
                                *self.args.precision)
        except OverLimit:
            self.over.add(mode)
            return
        self.simgrid[mode].append(seconds)
        self.differences[mode] = difference(self.simgrid_out, self.weir_out)

    def best(self):
        """The faster mode that agrees with Weir; None when there is none."""
        agreeing = [m for m, d in self.differences.items() if d <= self.args.agree]
        return min(agreeing, key=lambda m: statistics.median(self.simgrid[m]), default=None)

    def pair(self, modes):
        """Weir, then SimGrid in each of the modes."""
        self.weir.append(self.play(self.programs["weir"], self.weir_out))
        for mode in modes:
            self.play_simgrid(mode)


def measure(args, programs, scratch, names):
    """One row: medians of pairs; after the first pair only SimGrid's best mode is run."""
    fabric, pattern, ranks = names
    row = {"fabric": fabric, "pattern": pattern, "ranks": ranks,
           "flows": flows_of(programs["weir"], pattern, ranks)}
    cell = Cell(args, programs, scratch, names)
    compares = "simgrid" in programs and row["flows"] <= args.simgrid_flows
    try:
        cell.pair(args.modes if compares else [])
        for _ in range(args.repeat - 1):
            cell.pair([cell.best()] if cell.best() else [])
    except OverLimit as limit:
        row["weir_cpu_s"] = f"over {args.limit} s" if str(limit) == "time" else "over memory"
        return row
    row["weir_cpu_s"] = statistics.median(cell.weir)
    row["weir_flows_per_s"] = round(row["flows"] / row["weir_cpu_s"])
    for mode in MODES:
        if mode in cell.over:
            row[f"{mode.lower()}_cpu_s"] = f"over {args.limit} s"
        elif cell.simgrid[mode]:
            row[f"{mode.lower()}_cpu_s"] = statistics.median(cell.simgrid[mode])
            row[f"{mode.lower()}_difference"] = float(f"{cell.differences[mode]:.3g}")
    mode = cell.best()
    if mode:
        row["simgrid_mode"] = mode
        row["simgrid_cpu_s"] = statistics.median(cell.simgrid[mode])
        ratios = [s / w for s, w in zip(cell.simgrid[mode], cell.weir)]
        row["ratio"] = float(f"{statistics.median(ratios):.4g}")
        row["max_difference"] = row[f"{mode.lower()}_difference"]
    elif cell.differences:
        row["simgrid_mode"] = "disagrees"
    return row


def cells(args):
    """(fabric, pattern, ranks) to go through; `mix` is left out, see bench-fluid --help."""
    if args.cells:
        return args.cells
    return [(f, p, n) for f in FABRICS for p in PATTERNS if p != "mix"
            if not args.only or args.only & {f, p} for n in sorted(args.ranks or RANKS)]


def rows(args, programs, scratch):
    """Yields the table row by row."""
    for names in cells(args):
        yield measure(args, programs, scratch, names)
