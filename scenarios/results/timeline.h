// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_TIMELINE_H
#define WEIR_SCENARIOS_RESULTS_TIMELINE_H

#include "scenarios/results/record.h"
#include "scenarios/results/recorder.h"
#include "scenarios/results/trace-writer.h"
#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace weir
{

class Simulation;

/**
 * Path of a run's timeline: output.timelineFile if set, otherwise next to the result file,
 * otherwise in the current folder.
 */
std::string TimelinePath(const Scenario& scenario);

/**
 * A timeline in Chrome's trace format, as Perfetto opens it, with the fields of PyTorch's Kineto
 * traces so that its tools (HTA) can read it.
 *
 * A process is a rank, a thread one of its streams. Flows that leave a shown rank's GPU have
 * separate tracks, one per concurrent flow, so events of a thread never overlap. Compute operations
 * of micro-batch 0 contain their kernels; those of other micro-batches are one event each (their
 * kernels are the same). The recorder selects what is shown: one step of the recorded ranks. A job
 * that is a collective is a separate process with one event per call. Flows of no training job are
 * on tracks of their source, for the first MAX_SOURCES sources. Ports of the port series are
 * threads of one further process with one event per pause; counters show their queue lengths over
 * the whole run. Times are in microseconds of simulated time.
 *
 * Events are written as they arrive; memory does not grow with their number.
 */
class Timeline : public RecordSink
{
  public:
    static constexpr std::size_t MAX_FLOWS = 100000; //!< about 15 MB of text
    static constexpr std::size_t MAX_SOURCES = 64;   //!< sources of flows of no training job

    /** @throws InputError when @p path cannot be written. */
    Timeline(const std::string& path, const RecordingSpec& spec);

    /**
     * Writes the header and names the processes; call it before the first record. @p simulation
     * must outlive the timeline.
     * @param recorded the recorded ranks of each job
     */
    void Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded);

    /** Completes the file after the last record and renames it to its final name. */
    void Commit();

    void OnOp(const OpRecord& record) override;
    void OnCall(const CallRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnPortBin(const PortBinRecord& record) override;
    void OnPause(const PauseRecord& record) override;
    void OnPausesLeftOut(uint64_t count) override;

  private:
    /** A shown rank or source, and the end of the last flow on each of its tracks. */
    struct ShownRank
    {
        uint32_t pid;
        std::vector<Time> trackEnds;
    };

    /** Texts of a job that are written repeatedly, as JSON. */
    struct JobText
    {
        uint32_t firstPid;                     //!< ranks are numbered across all jobs
        std::vector<std::string> labels;       //!< by label, JSON-escaped
        std::vector<std::string> groupMembers; //!< by group, "[0, 1]"; empty where not shown
    };

    void BeginJob(JobId job, const std::vector<Rank>& recorded);
    uint32_t ShownDevice(DeviceId device);
    std::string FlowName(const FlowOwner& owner) const;
    void WriteKernels(const OpRecord& record);
    uint32_t PortPid();
    std::string PortName(LinkId port) const;
    void EndQueue();

    TraceWriter m_writer;
    const RecordingSpec& m_spec;
    Simulation* m_simulation{nullptr};
    std::vector<JobText> m_jobs;
    std::vector<ShownRank> m_shown;
    std::vector<uint32_t> m_shownByLink;   //!< by LinkId: index into m_shown, or NONE
    std::vector<uint32_t> m_shownByDevice; //!< by source DeviceId, last: none; same indices
    std::size_t m_sources{0};              //!< number of sources in m_shownByDevice
    uint32_t m_nextPid{0};                 //!< the next unused process number
    uint32_t m_firstCallPid{0};            //!< the first of the jobs that are collectives
    std::size_t m_flows{0};
    std::size_t m_flowsLeftOut{0};
    uint32_t m_portPid{0};    //!< process of the ports; 0: not created yet
    LinkId m_queuePort;       //!< port whose counter was written last
    Time m_queueUntil;        //!< time up to which the counter is valid; zero: it was reset to 0
    LinkId m_pausePort;       //!< port whose pause was written last
    uint32_t m_pauseTrack{0}; //!< thread of m_pausePort
    uint64_t m_pausesLeftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_TIMELINE_H
