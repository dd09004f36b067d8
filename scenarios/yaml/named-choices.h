// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_NAMED_CHOICES_H
#define WEIR_SCENARIOS_YAML_NAMED_CHOICES_H

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir
{

/** Values and what they are called in files and on the command line, in the order of messages. */
template <typename E>
using NamedChoices = std::vector<std::pair<const char*, E>>;

/** The value that @p name stands for, or nothing. */
template <typename E>
std::optional<E>
FindChoice(const NamedChoices<E>& choices, std::string_view name)
{
    for (const auto& [each, value] : choices)
    {
        if (each == name)
        {
            return value;
        }
    }
    return std::nullopt;
}

template <typename E>
std::vector<std::string>
ChoiceNames(const NamedChoices<E>& choices)
{
    std::vector<std::string> names;
    for (const auto& [name, value] : choices)
    {
        names.emplace_back(name);
    }
    return names;
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_NAMED_CHOICES_H
