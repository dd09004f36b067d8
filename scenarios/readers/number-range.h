// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_NUMBER_RANGE_H
#define WEIR_SCENARIOS_READERS_NUMBER_RANGE_H

#include "scenarios/yaml/yaml-node.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weir
{

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

#endif // WEIR_SCENARIOS_READERS_NUMBER_RANGE_H
