// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_TRAFFIC_H
#define WEIR_SCENARIOS_READERS_READ_TRAFFIC_H

#include "scenarios/catalog.h"
#include "scenarios/traffic/traffic-pattern.h"
#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

/**
 * A pattern of traffic: the keys of `job.traffic`, or with @p isInFile those of a file for `weir
 * flows`.
 * @param seed of a pattern that gives none
 * @param hasUntil whether flows begin until something else ends
 * @throws InputError with the place of what is missing, unknown, out of range or of another
 *         pattern.
 */
TrafficSpec ReadTraffic(
    const YamlNode& node, const Catalog& catalog, uint64_t seed, bool hasUntil, bool isInFile);

/**
 * Flow sizes by name or path: YAML (title, source, points), else HPCC's rows `bytes percent`.
 * @throws InputError when there are none, or they are no distribution.
 */
SizeDistribution LoadFlowSizes(const std::string& nameOrPath, const Catalog& catalog);

/** A pattern of a file for `weir flows`, and between whom. */
struct FileTraffic
{
    TrafficSpec spec;
    std::vector<uint32_t> endPoints; //!< empty: all
    std::string where;               //!< of them, for messages
};

/** The patterns of such a file. @throws InputError as ReadTraffic. */
std::vector<FileTraffic> LoadTrafficFile(const std::string& path, const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_TRAFFIC_H
