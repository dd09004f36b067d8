// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_TIMELINE_H
#define WEIR_SCENARIOS_RESULTS_TIMELINE_H

#include "scenarios/results/record.h"
#include "scenarios/results/recording-spec.h"
#include "scenarios/results/trace-writer.h"
#include "scenarios/scenario.h"

#include <string>
#include <vector>

namespace weir
{

class Simulation;

/**
 * Where a run's timeline goes: output.timelineFile, else beside the result file, else the current
 * folder.
 */
std::string TimelinePath(const Scenario& scenario);

/**
 * A timeline in Chrome's trace format, as Perfetto opens it, with the fields of PyTorch's Kineto
 * traces so that its tools (HTA) can read it.
 *
 * A process is a rank, a thread one of its streams; flows that leave a shown rank's GPU are on
 * tracks of their own, one track per concurrent flow, so events of a thread never overlap. Compute
 * operations of micro-batch 0 contain their kernels; those of the others are one event each (their
 * kernels are the same). What is shown is the recorder's choice: one step of the
 * recorded ranks. A job that is a collective is a process of its own with a
 * call an event, and flows of no training job are on tracks of their source, of the first
 * MAX_SOURCES. Ports of the port series are threads of one more process with a pause an event;
 * their queue lengths are counters there, of the whole run. Times are in microseconds of simulated
 * time.
 *
 * Events are written as they come; memory does not grow with their number.
 */
class Timeline : public RecordSink
{
  public:
    static constexpr std::size_t MAX_FLOWS = 100000; //!< about 15 MB of text
    static constexpr std::size_t MAX_SOURCES = 64;   //!< of flows of no training job

    /** @throws InputError when @p path cannot be written. */
    Timeline(const std::string& path, const RecordingSpec& spec);

    /**
     * Before the first record. @p simulation must outlive the timeline.
     * @param recorded by job: its recorded ranks
     */
    void Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded);

    /** After the last record: completes the file and gives it its name. */
    void Commit();

    void OnOp(const OpRecord& record) override;
    void OnCall(const CallRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnPortBin(const PortBinRecord& record) override;
    void OnPause(const PauseRecord& record) override;
    void OnPausesLeftOut(uint64_t count) override;

  private:
    /** A rank that is shown, and when the last flow on each of its tracks ended. */
    struct ShownRank
    {
        uint32_t pid;
        std::vector<Time> trackEnds;
    };

    /** What is written of a job again and again, as JSON text. */
    struct JobText
    {
        uint32_t firstPid;                     //!< ranks are numbered through all jobs
        std::vector<std::string> labels;       //!< by label, escaped
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
    std::vector<uint32_t> m_shownByLink; //!< by LinkId: index into m_shown, or NONE
    std::vector<uint32_t>
        m_shownByDevice;        //!< sources by DeviceId, then none: into m_shown, or NONE
    std::size_t m_sources{0};   //!< of those
    uint32_t m_nextPid{0};      //!< after the ranks and the jobs that are collectives
    uint32_t m_firstCallPid{0}; //!< of the jobs that are collectives
    std::size_t m_flows{0};
    std::size_t m_flowsLeftOut{0};
    uint32_t m_portPid{0};    //!< of the process of ports; 0: there is none yet
    LinkId m_queuePort;       //!< whose counter was written last
    Time m_queueUntil;        //!< to where it holds; zero: it has been set to nothing
    LinkId m_pausePort;       //!< whose pause was written last
    uint32_t m_pauseTrack{0}; //!< of that port
    uint64_t m_pausesLeftOut{0};
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_TIMELINE_H
