// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/class-arbiter.h"

#include "fabric/refuse.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace weir
{

namespace
{

constexpr std::size_t MAX_ENTRIES = 64; //!< limit of InfiniBand's tables
constexpr int64_t MAX_WEIGHT = 255;

/** Parses all of @p text as a number; -1 if it is none. */
int64_t
NumberOf(const std::string& text)
{
    int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/**
 * Parses a table in OpenSM's format: "1:64,2:128" is 64 units for class 1, then 128 for class 2.
 * @param classes number of data classes, which are 1 to @p classes
 * @throws std::invalid_argument "found ..., expected ..."
 */
std::vector<ArbitrationEntry>
ParseArbitrationTable(const std::string& text, unsigned classes)
{
    std::vector<ArbitrationEntry> table;
    for (std::size_t from = 0; from < text.size();)
    {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string entry = text.substr(from, comma - from);
        const std::size_t colon = std::min(entry.find(':'), entry.size());
        const int64_t trafficClass = NumberOf(entry.substr(0, colon));
        const int64_t weight = colon < entry.size() ? NumberOf(entry.substr(colon + 1)) : -1;
        WEIR_REFUSE_IF(trafficClass < 1 || trafficClass > classes || weight < 0 ||
                           weight > MAX_WEIGHT,
                       "found '" << entry << "', expected class:weight of class 1"
                                 << (classes > 1 ? " to " + std::to_string(classes) : "")
                                 << " and weight 0 to 255, such as 1:64");
        if (weight > 0) // an entry without weight is skipped
        {
            table.push_back({static_cast<uint8_t>(trafficClass), weight});
        }
        from = comma + 1;
    }
    WEIR_REFUSE_IF(table.size() > MAX_ENTRIES,
                   "found " << table.size() << " entries, expected at most 64");
    return table;
}

} // namespace

ClassArbiter::ClassArbiter(const ArbitrationSpec& spec, unsigned classes)
    : m_limit((spec.highLimit.Count() + UNIT - 1) / UNIT)
{
    const auto read = [classes](const char* key, const std::string& text) {
        try
        {
            return ParseArbitrationTable(text, classes);
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument(std::string("arbitration.") + key + ": " + error.what());
        }
    };
    m_high = read("highTable", spec.highTable);
    m_low = read("lowTable", spec.lowTable);
    std::vector<bool> isServed(classes + 1, false);
    for (const auto* table : {&m_high, &m_low})
    {
        for (const ArbitrationEntry& entry : *table)
        {
            isServed[entry.trafficClass] = true;
        }
    }
    for (unsigned c = 1; c <= classes; c++)
    {
        if (isServed[c])
        {
            continue;
        }
        WEIR_REFUSE_IF(!spec.lowTable.empty(),
                       "arbitration: found no weight of class "
                           << c << ", expected one in highTable or lowTable");
        m_low.push_back({static_cast<uint8_t>(c), 1});
    }
}

} // namespace weir
