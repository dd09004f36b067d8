// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/versions.h"

namespace weir
{

std::string
WeirVersion()
{
    return WEIR_VERSION_TEXT;
}

std::string
Ns3Version()
{
    return WEIR_NS3_VERSION_TEXT;
}

} // namespace weir
