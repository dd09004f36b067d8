// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_YAML_NEAREST_NAME_H
#define WEIR_SCENARIOS_YAML_NEAREST_NAME_H

#include <string>
#include <vector>

namespace weir
{

/**
 * The least number of insertions, deletions, replacements and swaps of neighbors that turn @p a
 * into @p b, upper and lower case being the same (optimal string alignment; Boytsov, "Indexing
 * methods for approximate dictionary searching", 2011, section 2.1). O(|a| |b|).
 */
std::size_t EditDistance(const std::string& a, const std::string& b);

/**
 * The one of @p names that somebody who wrote @p wrong may have meant: the nearest, the first of
 * equals. Empty when none is within a third of the longer name's length (two edits for short ones)
 * and none begins alike for three quarters of the shorter.
 */
std::string NearestName(const std::string& wrong, const std::vector<std::string>& names);

/** " (did you mean 'nodes'?)", or nothing when no name is near. */
std::string DidYouMean(const std::string& wrong, const std::vector<std::string>& names);

/** "a, b, c". */
std::string JoinNames(const std::vector<std::string>& names);

} // namespace weir

#endif // WEIR_SCENARIOS_YAML_NEAREST_NAME_H
