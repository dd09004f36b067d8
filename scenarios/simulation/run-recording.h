// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
#define WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H

#include "scenarios/results/recording-spec.h"
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
 * What is kept of a run: the result file and the timeline that its output asks for, and what is
 * reported of it. Outputs are opened first, fed while the run goes and get their names at its end;
 * without an end nothing of them stays, nor of a run that cannot go on (OutputSpec::keepsStuck).
 */
class RunRecording
{
  public:
    /**
     * Opens the outputs.
     * @throws InputError when an output cannot be written.
     */
    explicit RunRecording(RecordingSpec spec);

    /** That of @p scenario, which must outlive the recording. */
    explicit RunRecording(const Scenario& scenario);
    ~RunRecording();
    RunRecording(const RunRecording&) = delete;
    RunRecording& operator=(const RunRecording&) = delete;

    /** Of a link series in its file; nothing: there is none. */
    std::optional<Time> LinkSeriesWidth() const;

    /** Watches @p simulation, whose jobs have been added; it must outlive the recording. */
    void Begin(Simulation& simulation);

    /**
     * The run has ended: writes what is known only now.
     * @param complete adds what the verb knows to the result before it is written, and tables of
     *        its own to the file, if there is one
     * @throws std::runtime_error when it cannot.
     */
    RunResult Finish(const std::function<void(RunResult&, Hdf5File*)>& complete = {});

  private:
    RecordingSpec m_spec;
    std::unique_ptr<ResultFile> m_file;
    std::unique_ptr<Timeline> m_timeline;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Recorder> m_recorder; //!< tells the others: goes first
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
