// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_READERS_READ_SCENARIO_H
#define WEIR_SCENARIOS_READERS_READ_SCENARIO_H

#include "scenarios/catalog.h"
#include "scenarios/readers/read-system.h"
#include "scenarios/scenario.h"
#include "scenarios/yaml/quantity.h"
#include "scenarios/yaml/yaml-node.h"

#include <string>
#include <vector>

namespace weir
{

/** Reads the bin width of a series: above zero and at least @p min. @throws InputError */
inline Time
ReadBinWidth(const YamlNode& series, Time min = Time())
{
    const Time width = series.AsTime();
    if (width == Time() || width < min)
    {
        series.Fail("found '" + series.AsString() + "', expected " +
                    (width == Time() ? "a time above zero" : "at least " + FormatTime(min)));
    }
    return width;
}

/**
 * Reads an experiment from its YAML: {title, seed, system, jobs, network, events, output}; system
 * and jobs are required. Every plan is checked against its model, and the jobs against the GPUs.
 * @throws InputError with the location of what is missing, unknown, out of range or impossible.
 */
Scenario ReadScenario(const YamlNode& node, const Catalog& catalog);

/** A system and the YAML text that it was read from. */
struct KnownSystem
{
    std::string text;
    SystemDescription system;
    std::vector<std::string> notes; //!< on values that the wired fabric does not have
};

/** The same, but reuses the system of @p known, which is updated, where its text is the same. */
Scenario ReadScenario(const YamlNode& node, const Catalog& catalog, KnownSystem& known);

/**
 * Loads the run @p nameOrPath with @p settings ("key.path=value", see YamlNode::Set) applied in
 * order. @throws InputError as ReadScenario, and when a setting cannot be applied.
 */
Scenario LoadScenario(const std::string& nameOrPath,
                      const std::vector<std::string>& settings,
                      const Catalog& catalog);

} // namespace weir

#endif // WEIR_SCENARIOS_READERS_READ_SCENARIO_H
