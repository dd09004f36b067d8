// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_SIZE_LIST_H
#define WEIR_SCENARIOS_YAML_SIZE_LIST_H

#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/** The largest size of a collective, 32 PiB: at 4 GB/s it takes the 106 days that times count. */
constexpr Bytes LARGEST_CALL = Bytes::GiB(int64_t{1} << 25);

/**
 * Message sizes as text: a list "1MiB,64MiB,1048577", or a geometric range "8B:16GiB:x2" (first,
 * last, factor; the last is included where the factor meets it). Sizes have a unit or are exact
 * byte counts.
 * @throws InputError "found ..., expected ..." on anything else.
 */
std::vector<Bytes> ParseSizeList(const std::string& text);

/**
 * What each rank gives each other one in an all-to-all-v, as CSV: a row for each of @p ranks
 * senders with a size for each receiver, in bytes or with a unit; one row alone is every sender's.
 * @throws InputError with file and line where there are more or fewer, or something is no size.
 */
std::vector<std::vector<Bytes>> ReadCounts(const std::string& path, uint32_t ranks);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_SIZE_LIST_H
