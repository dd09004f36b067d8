// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/bound/sampled-nccl.h"

#include "collectives/nccl/nccl-constants.h"
#include "collectives/nccl/nccl-settings.h"

#include <vector>

namespace weir
{

namespace
{

constexpr uint32_t FIRST_MINOR = 10; //!< of release 2

/** From FIRST_MINOR on, one of each set of constants. */
const std::vector<const char*> OTHER_VERSIONS{
    "2.10.3", "2.14.3", "2.18.5", "2.19.3", "2.21.5", "2.23.4", "2.26.2", "2.28.9"};

} // namespace

std::string
DrawNcclVersion(RandomDraws& draws)
{
    return draws.With(0.5) ? NcclSettings().version : draws.OneOf(OTHER_VERSIONS);
}

std::string
UnsampledNcclVersion(const std::string& version)
{
    return NcclVersion::Parse(version).AtLeast(FIRST_MINOR) ? "" : "NCCL " + version;
}

} // namespace weir
