// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_BUSY_LINK_JSON_H
#define WEIR_SCENARIOS_RESULTS_BUSY_LINK_JSON_H

#include "scenarios/simulation/run-result.h"

#include <nlohmann/json.hpp>

namespace weir
{

/** `busiest_links` and the window in which they were, as every verb with `--json` prints them. */
inline void
AddBusiestLinks(nlohmann::ordered_json& object, const RunResult& result)
{
    object["busiest_links"] = nlohmann::ordered_json::array();
    for (const BusyLink& link : result.busiestLinks)
    {
        object["busiest_links"].push_back({{"name", link.name},
                                           {"kind", link.kind},
                                           {"mean_utilization", link.meanUtilization},
                                           {"busy_fraction", link.busyFraction},
                                           {"bytes", link.bytes.Count()}});
    }
    object["links_window_s"] = {0.0, result.measured.ToSeconds()};
}

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_BUSY_LINK_JSON_H
