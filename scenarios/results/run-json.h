// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RUN_JSON_H
#define WEIR_SCENARIOS_RESULTS_RUN_JSON_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <nlohmann/json.hpp>
#include <string>

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

/**
 * A run as one JSON object, for programs. All times are in seconds, of the first job where nothing
 * else is said:
 *  - step_time_s: the steady step (the last, or with jitter the mean); null when none was finished
 *  - steps_s: every finished step; of several also steps_mean_s and steps_deviation_s
 *  - breakdown_s: where the steady step's time went, mean over ranks: compute; tensor, pipeline,
 *    data, copy, context, expert and embedding, communication that compute waited for; launch,
 *    when the host was late; and bubble. They sum to the step's time
 *  - tokens_per_s (samples_per_s for a table of layers), model_tflops_per_gpu: at the steady step
 *  - jobs: name, gpus and all of the above of each job, and stages: breakdown_s by pipeline stage;
 *    gpu_memory_bytes: the estimate by part for a GPU of the fullest stage
 *  - busiest_links: name, kind, mean_utilization, busy_fraction, bytes; at most five
 *  - events, wall_s, peak_rss_bytes: what the run cost
 *  - waiting: only when the run could not finish: which ranks wait for what
 */
std::string ToJson(const Scenario& scenario, const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RUN_JSON_H
