// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-scenario.h"

#include "scenarios/bound/step-position.h"
#include "scenarios/simulation/wire-scenario.h"

#include <chrono>
#include <memory>
#include <sys/resource.h>

namespace weir
{

namespace
{

constexpr uint64_t PROGRESS_INTERVAL = 256; //!< instants between two calls of progress

/** The largest resident set of this process so far, in bytes. */
uint64_t
PeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

} // namespace

void
PlainLoop::Run(EngineSet& engines, const std::function<void(Time)>& progress)
{
    uint64_t instants = 0;
    while (engines.Step())
    {
        if (++instants % PROGRESS_INTERVAL == 0)
        {
            progress(engines.Now());
        }
    }
}

namespace
{

/** How far the first job's step may be from the reference, and from what is measured. */
void
AddBounds(const Scenario& scenario, const StepBounds& bounds, RunResult& result)
{
    const bool isShortcut =
        scenario.fidelity == Fidelity::Analytical || scenario.fidelity == Fidelity::Stream;
    if (result.jobs.empty() || result.StepTime().IsInfinite())
    {
        return;
    }
    if (bounds.calibration != nullptr && isShortcut)
    {
        result.bound = bounds.calibration->BoundOf(PositionOf(scenario, result), bounds.coverage);
    }
    result.measuredBound = bounds.measured;
}

} // namespace

RunResult
RunScenario(const Scenario& scenario,
            EngineLoop& loop,
            const std::function<void(const RunProgress&)>& progress,
            const StepBounds& bounds)
{
    const auto begin = std::chrono::steady_clock::now();
    RunRecording recording(scenario);
    const std::unique_ptr<Simulation> simulation = WireScenario(scenario);
    recording.Begin(*simulation);
    bool isPartial = false;
    try
    {
        loop.Run(simulation->Engines(), [&](Time now) {
            progress({now, simulation->DoneFraction()});
        });
    }
    catch (const RunStopped&)
    {
        isPartial = true;
    }
    RunResult result = recording.Finish([&](RunResult& found, Hdf5File* /* file */) {
        found.isPartial = isPartial;
        found.waiting = isPartial ? "" : found.waiting;
        AddBounds(scenario, bounds, found);
    });
    result.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.peakRssBytes = PeakRssBytes();
    return result;
}

} // namespace weir
