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

/**
 * Minimum number of insertions, deletions, substitutions and transpositions of adjacent characters
 * that turn @p a into @p b, ignoring case (optimal string alignment; Boytsov, "Indexing methods for
 * approximate dictionary searching", 2011, section 2.1). O(|a| |b|).
 */
std::size_t EditDistance(const std::string& a, const std::string& b);

/**
 * The name in @p names closest to @p wrong; the first of equally close ones. Empty when no name is
 * within an edit distance of a third of the longer name's length (two for short names) or shares a
 * prefix of three quarters of the shorter name.
 */
std::string NearestName(const std::string& wrong, const std::vector<std::string>& names);

/** " (did you mean 'nodes'?)", or nothing when no name is close. */
std::string DidYouMean(const std::string& wrong, const std::vector<std::string>& names);

/** "a, b, c", with @p between between the names. */
std::string JoinNames(const std::vector<std::string>& names, const std::string& between = ", ");

/** The parts of @p text between the characters @p separator; one more than there are of these. */
std::vector<std::string> SplitText(const std::string& text, char separator);

/**
 * The letters and digits of @p text in lower case: equal for all_reduce, all-reduce and AllReduce.
 */
std::string NormalizedName(const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_NAMED_CHOICES_H
