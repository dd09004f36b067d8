# SPDX-License-Identifier: GPL-2.0-only
"""Pictures of the fluid benchmark, log-log against ranks."""
from fluid_cell import PATTERNS


def subplots(rows, columns, size):
    """Axes that share their x axis; matplotlib is only needed here."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot.subplots(rows, columns, figsize=size, sharex=True, sharey="row", squeeze=False)


def line(axes, rows, column, pattern, style):
    """One pattern's points, where the column is a number above zero."""
    points = [(r["ranks"], r[column]) for r in rows if r["pattern"] == pattern
              and isinstance(r.get(column), (int, float)) and r[column] > 0]
    if points:
        axes.loglog(*zip(*sorted(points)), style, base=10, markersize=4, linewidth=1.3,
                    color=f"C{PATTERNS.index(pattern)}", label=pattern)


def finish(figure, axes, file):
    """Ticks at the ranks that were run, a grid, one legend below, and the file."""
    for one in axes.flat:
        ranks = sorted({int(x) for each in one.lines for x in each.get_xdata() if x > 1})
        one.set_xticks(ranks, [str(r) for r in ranks], fontsize=8)
        one.minorticks_off()
        one.grid(True, which="major", alpha=0.3)
    labels = {}
    for one in axes.flat:
        for handle, label in zip(*one.get_legend_handles_labels()):
            labels.setdefault(label, handle)
    order = sorted(labels, key=lambda name: PATTERNS.index(name) if name in PATTERNS else 99)
    figure.legend([labels[name] for name in order], order, loc="lower center",
                  ncol=max(1, len(order)), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(file, dpi=130)


def draw_scale(rows, limit, file):
    """Time, flows per second and bytes per flow; a column of pictures for each fabric."""
    fabrics = list(dict.fromkeys(r["fabric"] for r in rows))
    figure, axes = subplots(3, len(fabrics), (4.2 * len(fabrics) + 1, 10))
    quantities = [("cpu_s", "CPU time (s)"), ("flows_per_s", "flows / s"),
                  ("bytes_per_flow", "memory per flow (bytes)")]
    for x, fabric in enumerate(fabrics):
        mine = [r for r in rows if r["fabric"] == fabric]
        for y, (column, title) in enumerate(quantities):
            for pattern in PATTERNS:
                line(axes[y][x], mine, column, pattern, "o-")
            if column == "cpu_s":
                axes[y][x].axhline(limit, color="black", linestyle=":", linewidth=1)
                for pattern in PATTERNS:
                    over = [r for r in mine if r["pattern"] == pattern and r.get("estimate_s")]
                    if over:
                        axes[y][x].loglog([r["ranks"] for r in over],
                                          [r["estimate_s"] for r in over], "o", fillstyle="none",
                                          markersize=5, color=f"C{PATTERNS.index(pattern)}")
            if x == 0:
                axes[y][x].set_ylabel(title)
        axes[0][x].set_title(fabric)
        axes[-1][x].set_xlabel("ranks")
    figure.suptitle("Weir's fluid engine (hollow: estimated, beyond the limit)", fontsize=11)
    finish(figure, axes, file)


def draw_comparison(rows, file):
    """Time of Weir (solid) and of SimGrid (dashed); a picture for each fabric."""
    fabrics = list(dict.fromkeys(r["fabric"] for r in rows))
    figure, axes = subplots(1, len(fabrics), (4.2 * len(fabrics) + 1, 4.8))
    for x, fabric in enumerate(fabrics):
        mine = [r for r in rows if r["fabric"] == fabric]
        for pattern in PATTERNS:
            line(axes[0][x], mine, "weir_cpu_s", pattern, "o-")
            line(axes[0][x], mine, "simgrid_cpu_s", pattern, "x--")
        axes[0][x].set_title(fabric)
        axes[0][x].set_xlabel("ranks")
    axes[0][0].set_ylabel("CPU time (s)")
    figure.suptitle("The same flows on Weir (solid) and SimGrid (CM02, dashed)", fontsize=11)
    finish(figure, axes, file)
