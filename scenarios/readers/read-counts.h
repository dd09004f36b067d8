// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_COUNTS_H
#define WEIR_SCENARIOS_READERS_READ_COUNTS_H

#include "fabric/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * What each rank gives each other one in an all-to-all-v, as CSV: a row for each of @p ranks
 * senders with a size for each receiver, in bytes or with a unit; one row alone is every sender's.
 * @throws InputError with file and line where there are more or fewer, or something is no size.
 */
std::vector<std::vector<Bytes>> ReadCounts(const std::string& path, uint32_t ranks);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_COUNTS_H
