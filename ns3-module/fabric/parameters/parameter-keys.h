// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_PARAMETER_KEYS_H
#define WEIR_FABRIC_PARAMETERS_PARAMETER_KEYS_H

#include "fabric/parameters/parameter-visitor.h"

#include <string>
#include <vector>

namespace weir
{

/** The keys of all parameters of @p component, in the order of its list. */
std::vector<std::string> KeysOf(Parameterized& component);

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_PARAMETER_KEYS_H
