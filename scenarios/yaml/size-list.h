// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_SIZE_LIST_H
#define WEIR_SCENARIOS_YAML_SIZE_LIST_H

#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** Maximum size of a collective, 32 PiB: at 4 GB/s it takes the 106 days that Time spans. */
constexpr Bytes LARGEST_CALL = Bytes::GiB(int64_t{1} << 25);

/**
 * Parses message sizes: a list "1MiB,64MiB,1048577", or a geometric range "8B:16GiB:x2" (first,
 * last, factor; the last is included if the series reaches it exactly). A size is a quantity with a
 * unit or a number of bytes.
 * @throws InputError "found ..., expected ..." on anything else.
 */
std::vector<Bytes> ParseSizeList(const std::string& text);

/**
 * Reads the sizes that each rank sends to each other one in an all-to-all-v, as CSV: one row per
 * sender with one size per receiver, for @p ranks ranks, in bytes or with a unit. A single row
 * applies to every sender.
 * @throws InputError with file and line on a wrong number of rows or sizes, or an invalid size.
 */
std::vector<std::vector<Bytes>> ReadCounts(const std::string& path, uint32_t ranks);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_SIZE_LIST_H
