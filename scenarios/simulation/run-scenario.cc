// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/simulation/run-scenario.h"

#include "scenarios/bound/calibration.h"
#include "scenarios/bound/scenario-position.h"
#include "scenarios/results/link-series.h"
#include "scenarios/simulation/run-recording.h"
#include "scenarios/simulation/wire-scenario.h"

#include <chrono>
#include <memory>
#include <sys/resource.h>

namespace weir
{

namespace
{

constexpr uint64_t PROGRESS_INTERVAL = 256; //!< instants between two calls of progress

} // namespace

uint64_t
PeakRssBytes()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<uint64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

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

/**
 * Adds the bounds of the first job's step time against the reference and against measured steps;
 * without training jobs, those of the first collective's calls.
 */
void
AddBounds(const Scenario& scenario,
          const RunBounds& bounds,
          Simulation& simulation,
          RunResult& result)
{
    const Fidelity reference =
        bounds.calibration != nullptr ? bounds.calibration->GetOrigin().reference : Fidelity::Flow;
    const bool isBounded =
        bounds.calibration != nullptr && IsComparedWith(reference, scenario.fidelity);
    if (result.jobs.empty() && !result.BoundedTime().IsInfinite() && isBounded)
    {
        result.bound = bounds.calibration->BoundOf(PositionOfCalls(scenario, simulation, reference),
                                                   bounds.coverage);
    }
    if (result.jobs.empty() || result.StepTime().IsInfinite())
    {
        return;
    }
    if (isBounded)
    {
        result.bound = bounds.calibration->BoundOf(PositionOf(scenario, result), bounds.coverage);
    }
    if (!result.jobs.front().isWorkload) // no steps of imported workloads were measured
    {
        result.measuredBound = bounds.measured;
    }
}

/** Same as RunScenario, in the scenario's own fidelity. */
RunResult
RunInItsFidelity(const Scenario& scenario,
                 EngineLoop& loop,
                 const std::function<void(const RunProgress&)>& progress,
                 const RunBounds& bounds)
{
    const auto begin = std::chrono::steady_clock::now();
    RunRecording recording(scenario);
    const std::unique_ptr<Simulation> simulation = WireScenario(scenario);
    if (const auto width = recording.LinkSeriesWidth())
    {
        LinkSeries::ExpectFit(MinLinkBins(*simulation, *width), *width);
    }
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
        AddBounds(scenario, bounds, *simulation, found);
    });
    result.wallSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result.peakRssBytes = PeakRssBytes();
    return result;
}

bool
IsOnlyTraining(const Scenario& scenario)
{
    return !scenario.jobs.empty() && scenario.collectives.empty() && scenario.traffics.empty() &&
           scenario.events.empty();
}

/** Whether the bound of every job's step time is within the tolerance of @p scenario. */
bool
AreStepsWithinTolerance(const Scenario& scenario, const RunResult& result, const RunBounds& bounds)
{
    for (std::size_t job = 0; job < result.jobs.size(); job++)
    {
        const ErrorBound bound =
            bounds.calibration->BoundOf(PositionOf(scenario, result, job), bounds.coverage);
        if (result.jobs[job].stepTime.IsInfinite() ||
            !MeetsTolerance(bound, scenario.automatic.tolerance))
        {
            return false;
        }
    }
    return true;
}

} // namespace

RunResult
RunScenario(const Scenario& scenario,
            EngineLoop& loop,
            const std::function<void(const RunProgress&)>& progress,
            const RunBounds& bounds)
{
    if (scenario.fidelity == Fidelity::Auto && bounds.calibration != nullptr &&
        IsOnlyTraining(scenario))
    {
        {
            const RunRecording opened(scenario); // refuses unwritable outputs early
        }
        Scenario whole = scenario;
        whole.fidelity = Fidelity::Analytical;
        Scenario unrecorded = whole;
        unrecorded.output = {};
        PlainLoop plain;
        RunResult trial = RunInItsFidelity(unrecorded, plain, progress, bounds);
        if (!trial.isPartial && AreStepsWithinTolerance(whole, trial, bounds))
        {
            const bool isRecorded = !whole.output.file.empty() || whole.output.timeline;
            return isRecorded ? RunInItsFidelity(whole, loop, progress, bounds) : trial;
        }
    }
    return RunInItsFidelity(scenario, loop, progress, bounds);
}

RunResult
RunScenario(const Scenario& scenario, const RunBounds& bounds)
{
    PlainLoop loop;
    return RunScenario(
        scenario, loop, [](const RunProgress&) {}, bounds);
}

} // namespace weir
