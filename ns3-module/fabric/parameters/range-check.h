// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_PARAMETERS_RANGE_CHECK_H
#define WEIR_FABRIC_PARAMETERS_RANGE_CHECK_H

#include "fabric/parameters/parameter-visitor.h"

#include <string>

namespace weir
{

/**
 * Throws unless every value of @p component is in the range that its list gives.
 * @param field what the message names it by, "fabric".
 * @throws std::invalid_argument "fabric.levels: 9, expected 2 to 8".
 */
void CheckRanges(Parameterized& component, const std::string& field);

} // namespace weir

#endif // WEIR_FABRIC_PARAMETERS_RANGE_CHECK_H
