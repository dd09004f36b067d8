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
 * Reads a traffic pattern: the keys of `job.traffic`, or those of a file if @p isInFile.
 * @param seed used where the pattern gives none
 * @param hasUntil whether flows start until another job ends
 * @throws InputError at what is missing, unknown, out of range or of another pattern.
 */
TrafficSpec ReadTraffic(
    const YamlNode& node, const Catalog& catalog, uint64_t seed, bool hasUntil, bool isInFile);

/**
 * Loads a flow size distribution by name or path: YAML, else lines `bytes percent` as in HPCC.
 * @throws InputError when it cannot be read, or is not a distribution.
 */
SizeDistribution LoadFlowSizes(const std::string& nameOrPath, const Catalog& catalog);

/** A traffic pattern of a file for `weir flows`, and the end points that take part. */
struct FileTraffic
{
    TrafficSpec spec;
    std::vector<uint32_t> endPoints; //!< empty: all
    std::string where;               //!< location of the end points, for messages
};

/** Reads the patterns of such a file. @throws InputError as ReadTraffic. */
std::vector<FileTraffic> LoadTrafficFile(const std::string& path, const Catalog& catalog);

/** An inclusive range of whole numbers. */
struct NumberRange
{
    uint32_t first{0};
    uint32_t last{0};
    std::string where{}; //!< for messages, as YamlNode::Where
};

/** Reads a list of numbers (7) and ranges (0-15). @throws InputError at any other item. */
std::vector<NumberRange> ReadNumberRanges(const YamlNode& list);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_TRAFFIC_H
