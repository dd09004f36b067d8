# SPDX-License-Identifier: GPL-2.0-only
"""Units that a reader takes in at a glance."""

TIMES = [(1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")]
DECIMAL = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]
BINARY = [(2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")]


def unit_for(largest, units):
    """The first unit of which the largest value has at least one: (size, name)."""
    return next((unit for unit in units if abs(largest) >= unit[0]), units[-1])


def with_unit(value, units, digits=3):
    """A value with its unit: 0.0123 s is "12.3 ms"."""
    size, name = unit_for(value, units)
    return f"{value / size:.{digits}g} {name}" if value else f"0 {units[0][1]}"


def in_seconds(value, digits=4):
    """A time."""
    return with_unit(value, TIMES, digits)


def in_bytes(value):
    """A number of bytes in kB, MB, ..."""
    return with_unit(value, DECIMAL)


def size_label(value):
    """A message size: 1048576 is "1 MiB"."""
    size, name = unit_for(value, BINARY)
    return f"{value / size:.3g} {name}"
