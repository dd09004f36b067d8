// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
#define WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H

#include "collectives/planner.h"
#include "scenarios/results/recorder.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <functional>
#include <memory>
#include <optional>

namespace weir
{

class Hdf5File;
class Recorder;
class ResultFile;
class Timeline;

/**
 * The outputs of a run: the result file and timeline that its output section requests, and the
 * reported result. Files are opened first, written during the run and renamed to their final names
 * by Finish. No file remains without Finish, nor of a run that cannot proceed, unless
 * OutputSpec::keepsStuck is set.
 */
class RunRecording
{
  public:
    /**
     * Opens the outputs.
     * @throws InputError when an output cannot be written.
     */
    explicit RunRecording(RecordingSpec spec);

    /** The recording of @p scenario, which must outlive it. */
    explicit RunRecording(const Scenario& scenario);
    ~RunRecording();
    RunRecording(const RunRecording&) = delete;
    RunRecording& operator=(const RunRecording&) = delete;

    /** Bin width of the link series in the result file; nothing if there is none. */
    std::optional<Time> LinkSeriesWidth() const;

    /** Observes @p simulation, whose jobs have been added; it must outlive the recording. */
    void Begin(Simulation& simulation);

    /**
     * Ends the recording and writes what is known only at the end of the run.
     * @param complete adds the caller's values to the result before it is written, and its tables
     *         to the file, if there is one
     * @throws std::runtime_error when the files cannot be written.
     */
    RunResult Finish(const std::function<void(RunResult&, Hdf5File*)>& complete = {});

  private:
    RecordingSpec m_spec;
    std::unique_ptr<ResultFile> m_file;
    std::unique_ptr<Timeline> m_timeline;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Recorder> m_recorder; //!< refers to the others: destroyed first
};

/** Lower bound on the number of bins of @p width with link traffic of a call of @p plan. */
double MinLinkBins(const CollectivePlan& plan, const Routing& routing, Time width);

/**
 * Lower bound on the number of bins of @p width with link traffic of the work of @p simulation that
 * is certain to run: the steps of training jobs, the calls of collectives, and the flows of traffic
 * that other work does not end early. Calls that may be computed in closed form (analytical, auto)
 * put no traffic on links. Complexity O(operations of the programs + ranks x distinct operations +
 * flows).
 */
double MinLinkBins(Simulation& simulation, Time width);

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
