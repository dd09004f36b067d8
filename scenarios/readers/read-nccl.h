// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_NCCL_H
#define WEIR_SCENARIOS_READERS_READ_NCCL_H

#include "collectives/collective.h"
#include "collectives/nccl/nccl-settings.h"
#include "scenarios/readers/parameter-reader.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>

namespace weir
{

/**
 * Reads the NCCL settings of a run: a version, or a map of a version and other environment
 * settings.
 * @throws InputError at a wrong key or value.
 */
NcclSettings ReadNccl(const YamlNode& node);

/** Reads a version from 2.4 on, such as "2.30.7". @throws InputError when it is not one. */
std::string ReadNcclVersion(const YamlNode& node);

/** A note that the version is newer than those whose constants Weir has; empty if it is not. */
std::string NoteOnNcclVersion(const YamlNode& node);

/**
 * Reads the parameters of @p settings, from the keys of a map or from options.
 * @throws InputError at a value out of range, minChannels above the maximum, or a bufferSize that
 *         is not a multiple of 8 KiB.
 */
void ReadNcclParameters(const FindValue& find, NcclSettings& settings);

/** The same from @p map, whose other keys are those of the key map named @p keys. */
void ReadNcclParameters(const YamlNode& map, const char* keys, NcclSettings& settings);

/** Reads settings of dimension-wise collectives from a map or from options. @throws InputError */
DimensionWiseSettings ReadDimensionWise(const FindValue& find);

/** Reads what @p call does not leave to NCCL: the keys algorithm, protocol and channels. */
CollectiveOverrides ReadOverrides(const YamlNode& call);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_NCCL_H
