// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_QUANTITY_H
#define WEIR_SCENARIOS_YAML_QUANTITY_H

#include "fabric/units.h"

#include <string>

/**
 * @file
 * Quantities as text: a number and a unit, "400Gbps", "40MiB", "1.98 GHz".
 *
 * kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024. The number is read as an
 * exact decimal and scaled before it is rounded once. Each reader throws an InputError
 * "found ..., expected ..." (without a place) on a bare number, an unknown unit, a negative or
 * unrepresentable value. What a writer writes its reader reads back to the same value.
 */
namespace weir
{

/** B, kB (or KB), MB, GB, TB, KiB, MiB, GiB, TiB; must come to whole bytes. */
Bytes ParseBytes(const std::string& text);

/** ps, ns, us, ms, s; to the nearest picosecond. */
Time ParseTime(const std::string& text);

/** bps, kbps, Mbps, Gbps, Tbps (bits), or B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s (bytes). */
Rate ParseRate(const std::string& text);

/** Hz, kHz, MHz, GHz. */
double ParseHertz(const std::string& text);

/** A percentage: "3%" is 0.03. */
double ParsePercent(const std::string& text);

/** In the largest binary unit that divides it. */
std::string FormatBytes(Bytes bytes);

/** In the largest unit that divides it. */
std::string FormatTime(Time time);

/** "1 node", "4 nodes". */
std::string FormatNodes(std::size_t count);

/** In the unit that takes the fewest characters, bits before bytes. */
std::string FormatRate(Rate rate);

/** The shortest decimal that reads back to @p value. */
std::string FormatNumber(double value);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_QUANTITY_H
