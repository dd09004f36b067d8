// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_BOUND_SAMPLED_NCCL_H
#define WEIR_SCENARIOS_BOUND_SAMPLED_NCCL_H

#include "scenarios/bound/random-draws.h"

#include <string>

namespace weir
{

/** NCCL's version of a sampled scenario: half of them have Weir's default, the others another
 * release whose constants differ. */
std::string DrawNcclVersion(RandomDraws& draws);

/** What of @p version no sample has: "NCCL 2.7.8" before the first release drawn; empty: nothing.
 * @throws std::invalid_argument as NcclVersion::Parse. */
std::string UnsampledNcclVersion(const std::string& version);

} // namespace weir

#endif // WEIR_SCENARIOS_BOUND_SAMPLED_NCCL_H
