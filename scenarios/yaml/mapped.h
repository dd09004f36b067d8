// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_MAPPED_H
#define WEIR_SCENARIOS_YAML_MAPPED_H

#include <functional>
#include <vector>

namespace weir
{

/** The result of @p map, a function or a member, for each of @p values, as elements of type T. */
template <typename T, typename Values, typename Map>
std::vector<T>
Mapped(const Values& values, const Map& map)
{
    std::vector<T> mapped;
    for (const auto& value : values)
    {
        mapped.emplace_back(std::invoke(map, value));
    }
    return mapped;
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_MAPPED_H
