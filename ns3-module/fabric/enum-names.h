// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_ENUM_NAMES_H
#define WEIR_FABRIC_ENUM_NAMES_H

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir
{

/** A value of an enumeration and its name; the table of an enumeration is an array of these. */
template <typename E>
using EnumName = std::pair<E, const char*>;

/** The name of @p value. @throws std::invalid_argument when @p table lacks it. */
template <typename E, std::size_t N>
const char*
NameIn(const EnumName<E> (&table)[N], E value)
{
    for (const auto& [each, name] : table)
    {
        if (each == value)
        {
            return name;
        }
    }
    throw std::invalid_argument("NameIn: the value has no name");
}

/** The value with the name @p name; nullopt if @p table lacks it. */
template <typename E, std::size_t N>
std::optional<E>
ValueIn(const EnumName<E> (&table)[N], const std::string& name)
{
    for (const auto& [each, text] : table)
    {
        if (name == text)
        {
            return each;
        }
    }
    return std::nullopt;
}

} // namespace weir

#endif // WEIR_FABRIC_ENUM_NAMES_H
