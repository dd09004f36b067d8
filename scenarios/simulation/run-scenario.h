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

/** What drives the engines of a run: the plain loop, or ns-3's simulator. */
class EngineLoop
{
  public:
    virtual ~EngineLoop() = default;

    /** Runs @p engines until nothing is left to do; calls @p progress now and then. */
    virtual void Run(EngineSet& engines, const std::function<void(Time)>& progress) = 0;
};

/** The loop without a scheduler. */
class PlainLoop : public EngineLoop
{
  public:
    void Run(EngineSet& engines, const std::function<void(Time)>& progress) override;
};

/** Thrown by whoever is told of progress: the run ends here, and what it has done is kept. */
struct RunStopped
{
};

/** What bounds the time that a shortcut gives; nothing without a calibration. */
struct RunBounds
{
    const Calibration* calibration{nullptr}; //!< of steps; without training jobs of collectives
    double coverage{0.9};                    //!< one that it knows
    std::optional<MeasuredBound> measured{}; //!< where measured steps lie
};

/**
 * Wires, builds and runs a scenario, feeding the recorder that its output asks for. Outputs are
 * opened before anything is computed and appear under their names only when the run has ended, or
 * @p progress has thrown RunStopped.
 * @param bounds of the result's BoundedTime(), where a shortcut runs it
 * @throws InputError on a plan that cannot run, an output that cannot be written or a link series
 *         of too many bins.
 */
RunResult RunScenario(const Scenario& scenario,
                      EngineLoop& loop,
                      const std::function<void(const RunProgress&)>& progress,
                      const RunBounds& bounds = {});

/** The same by the plain loop, without telling of progress. */
RunResult RunScenario(const Scenario& scenario, const RunBounds& bounds = {});

/** The largest resident set of this process so far, in bytes. */
uint64_t PeakRssBytes();

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_SCENARIO_H
