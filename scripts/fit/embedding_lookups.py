# SPDX-License-Identifier: GPL-2.0-only
"""Times of table-batched embedding look-ups as compute-model/kernels/embedding-time.h has them, for
fit-kernels: what look-ups meet (index-distribution.h) is worked out once, figures are then tried."""
import numpy as np

SMS, CLOCK_MHZ, HBM, L2_BYTES, L1_BYTES = 132, 1980.0, 4.8e6, 60 << 20, 256 << 10
L1_SHARE, L2_SHARE = 0.8, 0.9  # of the caches, that rows find room in: not fitted
SECTOR, INDEX, SUM, ELEMENT = 32, 8, 4, {"fp32": 4, "bf16": 2}
NARROW_SUM_PASSES = 3  # of sums of 16-bit rows through the L2
FORWARD = ["memoryEfficiency", "l1Rate", "l2Rate", "addRate", "conversions", "sharpness",
           "bagsAtOnce", "rowSeconds_us", "floor_us", "convertedLatency"]
FORWARD_START = np.array([0.895, 99.2, 39.7, 54.9, 1.97, 2.92, 200, 0.208, 1.69, 1.5])
BACKWARD = ["memoryEfficiency", "l2Rate", "sharpness", "bagsAtOnce", "rowSeconds_us", "floor_us",
            "hottest_us", "hottestPower"]
BACKWARD_START = np.array([0.95, 14.74, 1.256, 606, 0.158, 0.166, 3.61e-3, 0.126])

NUMBERS = ("time_us", "bags", "pooling", "dim", "lookups", "narrow", "streamed", "dram", "l2", "l1",
           "most")


def classes(rows, exponent):
    """Numbers of rows that are looked up alike, and the probability of one of each."""
    if exponent == 0:
        return np.array([float(rows)]), np.array([1.0 / rows])
    count, weight, first = [], [], 1
    while first <= rows:
        end = min(max(first + 1, int(first * 1.15)), rows + 1)
        if end - first <= 32:
            total = np.sum(np.arange(first, end, dtype=float) ** -exponent)
        elif exponent == 1:
            total = np.log((end - 0.5) / (first - 0.5))
        else:
            total = ((end - 0.5) ** (1 - exponent) - (first - 0.5) ** (1 - exponent)) / (1 - exponent)
        count.append(float(end - first))
        weight.append(total / (end - first))
        first = end
    count, weight = np.array(count), np.array(weight)
    return count, weight / np.sum(count * weight)


def misses(count, probability, lookups, capacity):
    unseen = np.where(probability >= 1, 0, np.exp(lookups * np.log1p(-np.minimum(probability, 1 - 1e-16))))
    unique = np.sum(count * (1 - unseen))
    if unique <= capacity:
        return unique
    low, high = 0.0, float(lookups)
    for _ in range(60):
        middle = (low + high) / 2
        held = -np.sum(count * np.expm1(-probability * middle))
        low, high = (middle, high) if held < capacity else (low, middle)
    return capacity + (lookups - low) * np.sum(count * probability * np.exp(-probability * low))


def meet(rows):
    """Rows of the table of measurements, with numbers as such and what each moves."""
    known = {}
    for row in rows:
        table, dim, bags, pooling = (int(row[n]) for n in ("rows", "dim", "bags", "pooling"))
        key = table, float(row["zipf"])
        count, probability = known.setdefault(key, classes(*key))
        element = ELEMENT[row["precision"]]
        row_bytes = np.ceil(dim * element / SECTOR) * SECTOR
        lookups = float(bags) * pooling
        l2_misses = misses(count, probability, lookups, L2_BYTES * L2_SHARE / row_bytes)
        per_sm = max(1.0, lookups / SMS)
        l1_misses = SMS * misses(count, probability, per_sm, L1_BYTES * L1_SHARE / row_bytes)
        l1_misses = min(max(l1_misses, l2_misses), max(l2_misses, lookups))
        streamed = INDEX * bags * (pooling + 1) + bags * dim * SUM
        again = (NARROW_SUM_PASSES - 1) * bags * dim * SUM if element < 4 else 0
        yield {**row, "bags": bags, "pooling": pooling, "dim": dim, "lookups": lookups,
               "narrow": element < 4, "streamed": streamed,
               "dram": l2_misses * row_bytes + streamed,
               "l2": l1_misses * row_bytes + streamed + again, "l1": lookups * row_bytes,
               "most": np.max(probability)}


def arrays(rows):
    """The numbers of rows that meet() gave, by name."""
    return {name: np.array([row[name] for row in rows], dtype=float) for name in NUMBERS}


def bag_latency(p, a):
    rounds = np.maximum(1, a["bags"] / (SMS * p["bagsAtOnce"]))
    return p["rowSeconds_us"] * a["pooling"] * rounds


def forward_time(x, a):
    p = dict(zip(FORWARD, x))
    clocks, q = SMS * CLOCK_MHZ, p["sharpness"]
    adds = a["lookups"] * a["dim"] * np.where(a["narrow"] > 0, p["conversions"], 1)
    dram = a["dram"] / (HBM * p["memoryEfficiency"])
    l2 = a["l2"] / (p["l2Rate"] * clocks)
    l1 = np.maximum(a["l1"] / (p["l1Rate"] * clocks), adds / (p["addRate"] * clocks))
    return p["floor_us"] + np.hypot((dram ** q + l2 ** q + l1 ** q) ** (1 / q), bag_latency(p, a) *
                                    np.where(a["narrow"] > 0, p["convertedLatency"], 1))


def backward_time(x, a):
    p = dict(zip(BACKWARD, x))
    q = p["sharpness"]
    dram = (2 * a["dram"] - a["streamed"]) / (HBM * p["memoryEfficiency"])
    l2 = a["l1"] / (p["l2Rate"] * SMS * CLOCK_MHZ)
    wide = np.maximum(1, a["dim"] / 64) ** p["hottestPower"]
    hottest = a["lookups"] * a["most"] * p["hottest_us"] * wide
    return p["floor_us"] + np.hypot((dram ** q + l2 ** q + hottest ** q) ** (1 / q), bag_latency(p, a))


PHASES = {"forward": (FORWARD, FORWARD_START, forward_time),
          "backward": (BACKWARD, BACKWARD_START, backward_time)}
