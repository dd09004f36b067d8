// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_QUANTITY_H
#define WEIR_SCENARIOS_YAML_QUANTITY_H

#include "fabric/units.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

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

/** Units B, kB (or KB), MB, GB, TB, KiB, MiB, GiB, TiB; must be a whole number of bytes. */
Bytes ParseBytes(const std::string& text);

/** Units ps, ns, us, ms, s; rounds to the nearest picosecond. */
Time ParseTime(const std::string& text);

/** Units bps, kbps, Mbps, Gbps, Tbps (bits); B/s, kB/s, MB/s, GB/s, TB/s, MiB/s, GiB/s (bytes). */
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

/**
 * The number of type @p N that the whole of @p text is, as std::from_chars reads it; nothing for
 * any other text, or a number out of the range of @p N.
 */
template <typename N>
std::optional<N>
ParseNumber(std::string_view text)
{
    N number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_QUANTITY_H
