# SPDX-License-Identifier: GPL-2.0-only
"""Matrix products of fp8, tf32 and fp32 as compute-model/kernels/gemm-time.cc has them: the 16-bit
figures with a rate inside main loops, and for 32 bits tiles and a start of a tile of their own."""
import math

SMS, CLOCK, HBM = 132, 1980.0, 4.8e6  # clocks, bytes per microsecond
BURST, FULL_LOAD = 1667.0, 0.88
RATE = {"tf32": 2048, "fp32": 256}
# scenarios/gpus/h200-sxm.yaml
FIGURES = dict(operand=67.4, store=16.93, memory=0.846, sharpness=6.6, floor=2.3, splitFloor=2.885,
               misalignedOutput=1.66, misalignedOperand=1.235)
TILES = {"tf32": [(256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64)],
         "fp32": [(128, 128), (128, 64), (64, 128), (128, 32), (64, 64), (32, 32)]}
SPLITS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32]
START = {"tf32": [0.96, 1.0], "fp32": [0.86, 3.0]}  # tensorEfficiency, tileOverhead_us


def power_sum(a, b):
    p = FIGURES["sharpness"]
    return (a ** p + b ** p) ** (1 / p)


def one_time(efficiency, overhead, precision, m, n, k):
    f = FIGURES
    out = f["misalignedOutput"] if n * 4 % 128 else 1
    operand = f["misalignedOperand"] if k * 4 % 128 else 1
    memory = (m * k * operand + n * k * operand + m * n * out) * 4 / (HBM * f["memory"])
    best = None
    for rows, columns in TILES[precision]:
        tiles = math.ceil(m / rows) * math.ceil(n / columns)
        for split in SPLITS:
            steps = math.ceil(k / 32)
            each = math.ceil(steps / split)
            waves = math.ceil(tiles * split / SMS)
            if split > 1 and (each < 4 or (split - 1) * each >= steps or waves > 2):
                continue
            tensor = 2 * max(rows, columns, 64) * min(rows, columns) / (RATE[precision] * efficiency)
            clocks = power_sum(tensor, (rows + columns) * operand * 4 / f["operand"]) * each * 32
            store = rows * columns * 4 * out / f["store"] / CLOCK
            reduction = f["splitFloor"] + m * n * split * 4 / (HBM * f["memory"]) if split > 1 else 0

            def seconds(clock, waves=waves, clocks=clocks, store=store, reduction=reduction):
                busiest = waves * (clocks / clock + overhead + store)
                return f["floor"] + power_sum(busiest, memory) + reduction

            if best is None or seconds(CLOCK) < best(CLOCK):
                best = seconds
    clock = CLOCK
    for _ in range(4):
        used = 2 * m * n * k / (RATE[precision] * SMS) / (clock * best(clock))
        clock = CLOCK - (CLOCK - BURST) * min(used / FULL_LOAD, 1)
    return best(clock)


def times(x, rows):
    return [one_time(x[0], x[1], row["precision"], *(int(row[name]) for name in ("m", "n", "k")))
            for row in rows]
