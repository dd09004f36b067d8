// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_SIZE_LIST_H
#define WEIR_SCENARIOS_YAML_SIZE_LIST_H

#include "fabric/units.h"

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

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_SIZE_LIST_H
