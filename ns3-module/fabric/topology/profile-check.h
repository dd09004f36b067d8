// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PROFILE_CHECK_H
#define WEIR_FABRIC_PROFILE_CHECK_H

#include "fabric/topology/link-profile.h"

#include <string>

namespace weir
{

/**
 * Throws unless links can be made of @p profile: a positive finite rate, each efficiency in (0, 1],
 * a latency that is neither negative nor infinite.
 * @param field what the message names, e.g. "node.nvlink".
 * @throws std::invalid_argument
 */
void CheckProfile(const LinkProfile& profile, const std::string& field);

} // namespace weir

#endif // WEIR_FABRIC_PROFILE_CHECK_H
