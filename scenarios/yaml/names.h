// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_NAMES_H
#define WEIR_SCENARIOS_YAML_NAMES_H

#include <cstddef>
#include <string>
#include <vector>

namespace weir
{

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

/** Whether @p name is one of @p names. */
bool IsAmong(const std::string& name, const std::vector<std::string>& names);

/** "a, b, c", with @p between between the names. */
std::string JoinNames(const std::vector<std::string>& names, const std::string& between = ", ");

/** "a, b or c". */
std::string JoinChoices(const std::vector<std::string>& names);

/** The parts of @p text between the characters @p separator; one more than there are of these. */
std::vector<std::string> SplitText(const std::string& text, char separator);

/** @p text with its letters in lower case. */
std::string LowerCase(std::string text);

/** The letters and digits of @p text in lower case: equal for all_reduce and AllReduce. */
std::string NormalizedName(const std::string& text);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_NAMES_H
