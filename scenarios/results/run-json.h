// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RUN_JSON_H
#define WEIR_SCENARIOS_RESULTS_RUN_JSON_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <nlohmann/json.hpp>
#include <string>

namespace weir
{

/**
 * Adds `busiest_links` and `links_window_s`, the window that they cover, as in every verb's
 * `--json`.
 */
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

/** Adds `coupling`, the coupling of packets and fluid with its largest error, if there is one. */
inline void
AddCoupling(nlohmann::ordered_json& object, const RunResult& result)
{
    if (result.coupling)
    {
        object["coupling"] = {{"windows", result.coupling->windows},
                              {"largest_debt_bytes", result.coupling->largestDebt}};
    }
}

/** A bound of a time: @p time in @p unit, "s" or "us", as are the ends. */
nlohmann::ordered_json BoundJson(const ErrorBound& bound, double time, const std::string& unit);

/**
 * A run as one JSON object, for programs. All times are in seconds. Keys that name no job belong to
 * the first job:
 *  - step_time_s: the steady step (the last, or with jitter the mean); null when none finished;
 *    step_time_kind states which
 *  - steps_s: every finished step; with several also steps_mean_s, steps_median_s, steps_p95_s and
 *    steps_deviation_s
 *  - breakdown_s: the steady step's time by category, mean over ranks: compute; exposed
 *    communication (tensor, pipeline, data, copy, context, expert, embedding); launch, when the
 *    host was late; and bubble. They sum to the step time
 *  - tokens_per_s (samples_per_s for a table of layers), model_tflops_per_gpu: in the steady step
 *  - jobs: name, gpus and all of the above for each job, and stages: breakdown_s by pipeline stage;
 *    gpu_memory_bytes: the estimate by part for a GPU of the fullest stage
 *  - busiest_links: name, kind, mean_utilization, busy_fraction, bytes; at most five
 *  - events, wall_s, peak_rss_bytes: the cost of the run
 *  - waiting: only when the run could not finish: which ranks wait for what
 */
std::string ToJson(const Scenario& scenario, const RunResult& result);

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RUN_JSON_H
