// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_NCCL_H
#define WEIR_SCENARIOS_READERS_READ_NCCL_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "scenarios/readers/scenario-names.h"
#include "scenarios/yaml/yaml-node.h"

#include <functional>
#include <optional>
#include <string>

namespace weir
{

/**
 * How a run uses NCCL: a version, or a map of a version and what else its environment sets.
 * @throws InputError at a key or value that is wrong.
 */
NcclSettings ReadNccl(const YamlNode& node);

/** A version from 2.4 on, as "2.30.7". @throws InputError when it is none. */
std::string ReadNcclVersion(const YamlNode& node);

/** That the version of ReadNcclVersion is newer than all that Weir has constants of; empty: no. */
std::string NoteOnNcclVersion(const YamlNode& node);

/** Algorithms that a call may ask for: not the schedule of a file. */
NamedChoices<Algorithm> CalledAlgorithms();

/** The value of a key, if it is given. */
using FindValue = std::function<std::optional<YamlNode>(const char* key)>;

/** Reads the parameters of @p settings, whether the keys are of a map or options. */
void ReadNcclParameters(const FindValue& find, NcclSettings& settings);

/** The same from @p map, which has their keys and those of the map of keys @p keys. */
void ReadNcclParameters(const YamlNode& map, const char* keys, NcclSettings& settings);

/** How dimension-wise collectives run, whether the keys are of a map or options. */
DimensionWiseSettings ReadDimensionWise(const FindValue& find);

/** What a call leaves no choice of: the keys algorithm, protocol and channels of @p call. */
CollectiveOverrides ReadOverrides(const YamlNode& call);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_NCCL_H
