// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_TESTS_SCENARIOS_SMALL_SCENARIO_H
#define WEIR_TESTS_SCENARIOS_SMALL_SCENARIO_H

#include "scenarios/catalog.h"
#include "scenarios/readers/read-scenario.h"

#include <string>

namespace weir
{

/**
 * A run of milliseconds: a GPT of four layers on two DGX A100, one pipeline stage per node, with
 * eight tensor ranks. @p settings are key.path=value, as on the command line.
 */
inline Scenario
SmallScenario(const std::vector<std::pair<std::string, std::string>>& settings = {})
{
    YamlNode node = YamlNode::Parse(R"(
title: small
system:
  base: dgx-a100
  nodes: 2
  fabric: {kind: rail-optimized, leafRadix: 4}
jobs:
  - name: gpt
    model: {base: gpt-22b, name: gpt-small, layers: 4}
    parallel: {tensor: 8, pipeline: 2, data: 1, microBatch: 1, globalBatch: 4}
    precision: bf16
    steps: 2
network: {fidelity: stream}
)",
                                    "small.yaml");
    for (const auto& [key, value] : settings)
    {
        node.Set(key, value);
    }
    return ReadScenario(node, Catalog({std::string(WEIR_SOURCE_DIR) + "/scenarios"}));
}

} // namespace weir

#endif // WEIR_TESTS_SCENARIOS_SMALL_SCENARIO_H
