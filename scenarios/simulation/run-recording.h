// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
#define WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H

#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"
#include "scenarios/simulation/simulation.h"

#include <memory>

namespace weir
{

class Recorder;
class ResultFile;
class Timeline;

/** What bounds the step of a shortcut; nothing without a calibration. */
struct StepBounds
{
    const Calibration* calibration{nullptr};
    double coverage{0.9};                    //!< one that it knows
    std::optional<MeasuredBound> measured{}; //!< where measured steps lie
};

/**
 * What is kept of a run: the result file and the timeline that its output asks for, and what is
 * reported of it. Outputs are opened first, fed while the run goes and get their names at its end;
 * without an end nothing of them stays.
 */
class RunRecording
{
  public:
    /**
     * Opens the outputs.
     * @param scenario what is run, for provenance; must outlive the recording
     * @throws InputError when an output cannot be written.
     */
    explicit RunRecording(const Scenario& scenario);
    ~RunRecording();
    RunRecording(const RunRecording&) = delete;
    RunRecording& operator=(const RunRecording&) = delete;

    /** Watches @p simulation, whose jobs have been added; it must outlive the recording. */
    void Begin(Simulation& simulation);

    /**
     * The run has ended: writes what is known only now.
     * @param bounds of the first job's steady step
     * @throws InputError when it cannot.
     */
    RunResult Finish(const StepBounds& bounds = {});

  private:
    const Scenario& m_scenario;
    std::unique_ptr<ResultFile> m_file;
    std::unique_ptr<Timeline> m_timeline;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Recorder> m_recorder; //!< tells the others: goes first
};

} // namespace weir

#endif // WEIR_SCENARIOS_SIMULATION_RUN_RECORDING_H
