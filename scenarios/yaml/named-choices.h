// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_NAMED_CHOICES_H
#define WEIR_SCENARIOS_YAML_NAMED_CHOICES_H

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir
{

/** Values with their names in files and on the command line, in the order used by messages. */
template <typename E>
using NamedChoices = std::vector<std::pair<const char*, E>>;

/** The value named @p name, or nothing. */
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

/** The name of @p value. @throws std::logic_error when @p choices lacks it. */
template <typename E>
const char*
NameOf(const NamedChoices<E>& choices, E value)
{
    for (const auto& [name, choice] : choices)
    {
        if (choice == value)
        {
            return name;
        }
    }
    throw std::logic_error("NameOf: a value without a name");
}

/** The values of an enumeration up to @p last with their names by ToString. */
template <typename E>
NamedChoices<E>
ChoicesUpTo(E last)
{
    NamedChoices<E> choices;
    for (std::size_t i = 0; i <= static_cast<std::size_t>(last); ++i)
    {
        choices.emplace_back(ToString(static_cast<E>(i)), static_cast<E>(i));
    }
    return choices;
}

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_NAMED_CHOICES_H
