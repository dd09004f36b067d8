// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_DESCRIBE_KEYS_H
#define WEIR_SCENARIOS_DESCRIBE_KEYS_H

#include "fabric/kinds/fabric-kinds.h"
#include "scenarios/readers/yaml-keys.h"

#include <vector>

namespace weir
{

/**
 * Every key of every YAML file: YamlKeyMaps(), and what components say of themselves: the fabric
 * kinds @p kinds, parallel plans, packets, congestion controls, costs of nodes. Their helps end
 * with default and source.
 */
std::vector<YamlKeyMap> DescribeKeys(const FabricKindRegistry& kinds = FabricKinds());

} // namespace weir

#endif // WEIR_SCENARIOS_DESCRIBE_KEYS_H
