// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_VERSIONS_H
#define WEIR_SCENARIOS_VERSIONS_H

#include <string>

namespace weir
{

/** Weir's version, as in the file VERSION. */
std::string WeirVersion();

/** The version of ns-3 that this was built against, or "none" (built without ns-3). */
std::string Ns3Version();

} // namespace weir

#endif // WEIR_SCENARIOS_VERSIONS_H
