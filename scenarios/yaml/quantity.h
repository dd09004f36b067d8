// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_QUANTITY_H
#define WEIR_SCENARIOS_YAML_QUANTITY_H

#include "fabric/units.h"

#include <string>

/**
 * @file
 * Quantities as text: a number and a unit, "400Gbps", "40MiB", "1.98 GHz".
 *
 * kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB are powers of 1024. The number is read as
 * an exact decimal, scaled, and rounded once. Each parser throws an InputError "found ..., expected
 * ..." (without a location) on a number without a unit, an unknown unit, and a negative or
 * unrepresentable value. Each parser reads the output of its formatter back to the same value.
 */
namespace weir
{

/**
 * Units B, kB (or KB), MB, GB, TB, KiB, MiB, GiB, TiB; the result must be a whole number of bytes.
 */
Bytes ParseBytes(const std::string& text);

/** Units ps, ns, us, ms, s; rounds to the nearest picosecond. */
Time ParseTime(const std::string& text);

/**
 * Units bps, kbps, Mbps, Gbps, Tbps (bits), or B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s (bytes).
 */
Rate ParseRate(const std::string& text);

/** Units Hz, kHz, MHz, GHz. */
double ParseHertz(const std::string& text);

/** A percentage: "3%" is 0.03. */
double ParsePercent(const std::string& text);

/** Uses the largest binary unit that divides the size. */
std::string FormatBytes(Bytes bytes);

/** Uses the largest unit that divides the time. */
std::string FormatTime(Time time);

/** "1 node", "4 nodes". */
std::string FormatNodes(std::size_t count);

/** Uses the unit that gives the shortest text; ties go to bits. */
std::string FormatRate(Rate rate);

/** The shortest decimal number that reads back to @p value. */
std::string FormatNumber(double value);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_QUANTITY_H
