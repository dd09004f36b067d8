// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_COMMAND_KIND_OPTION_H
#define WEIR_SCENARIOS_COMMAND_KIND_OPTION_H

#include "scenarios/catalog.h"

#include <string>

namespace weir
{

/** A kind of the catalogue by its name, "systems" or "system". @throws InputError when unknown. */
CatalogKind ParseKind(const std::string& name);

} // namespace weir

#endif // WEIR_SCENARIOS_COMMAND_KIND_OPTION_H
