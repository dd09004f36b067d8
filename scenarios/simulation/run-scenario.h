// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_SCENARIO_H
#define WEIR_SCENARIOS_SIMULATION_RUN_SCENARIO_H

#include "fabric/transport/passive-engine.h"
#include "scenarios/bound/calibration.h"
#include "scenarios/bound/measured-bounds.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/progress.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/run-result.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace weir
{

/** Drives the engines of a run: the plain loop or ns-3's simulator. */
class EngineLoop
{
  public:
    virtual ~EngineLoop() = default;

    /** Runs @p engines until no event is left; calls @p progress periodically. */
    virtual void Run(EngineSet& engines, const std::function<void(Time)>& progress) = 0;
};

/** The loop without a scheduler. */
class PlainLoop : public EngineLoop
{
  public:
    void Run(EngineSet& engines, const std::function<void(Time)>& progress) override;
};

/** Thrown by a progress callback to stop the run; the results so far are kept. */
struct RunStopped
{
};

/** Sources of the error bounds of a result; without a calibration there is no model bound. */
struct RunBounds
{
    const Calibration* calibration{nullptr}; //!< of steps or, without training jobs, of collectives
    double coverage{0.9};                    //!< a coverage that the calibration has
    std::optional<MeasuredBound> measured{}; //!< interval of measured steps
};

/**
 * Wires, builds and runs a scenario and records the output that it requests. Outputs are opened
 * before anything is computed. They appear under their names only when the run has ended or
 * @p progress has thrown RunStopped.
 * @param bounds sources of the bounds of the result's BoundedTime(), if a shortcut computes it
 * @throws InputError when a plan cannot run, an output cannot be written, or a link series has too
 *         many bins.
 */
RunResult RunScenario(const Scenario& scenario,
                      EngineLoop& loop,
                      const std::function<void(const RunProgress&)>& progress,
                      const RunBounds& bounds = {});

/** The same with the plain loop and without progress. */
RunResult RunScenario(const Scenario& scenario, const RunBounds& bounds = {});

/** Peak resident set size of this process so far, in bytes. */
uint64_t PeakRssBytes();

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_SCENARIO_H
