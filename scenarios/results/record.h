// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORD_H
#define WEIR_SCENARIOS_RESULTS_RECORD_H

#include "compute-model/graph/step-program.h"
#include "fabric/ids.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <cstdint>

/**
 * @file
 * What happened in a run, one record a thing; the recorder makes them, the result file and the
 * timeline take them.
 */
namespace weir
{

/** A job of the run, in the order of the scenario. */
using JobId = Id<struct JobTag>;

/** One operation of one rank. */
struct OpRecord
{
    JobId job;
    uint32_t step{0};
    Rank rank;
    StreamKind stream{StreamKind::Compute};
    const StepOp* op{nullptr};
    bool isShown{false}; //!< of the step that a timeline shows
    Time posted;         //!< the rank reached it
    Time started;        //!< it began to make progress
    Time finished;
};

/** One call of a job that is a collective. */
struct CallRecord
{
    uint32_t collectiveJob{0}; //!< of Simulation::Collectives
    uint32_t number{0};        //!< of the job's calls
    Time started;
    Time finished;
};

/** One collective or send/recv of one group. */
struct CollectiveRecord
{
    JobId job;
    uint32_t step{0};
    uint32_t group{0}; //!< into the job's StepGraph::groups
    const StepOp* op{nullptr};
    uint64_t number{0};  //!< of the job's collectives, in the order of their starts
    bool isShown{false}; //!< of the step that a timeline shows
    Time firstArrival;
    Time started; //!< the last rank arrived
    Time finished;
};

/** On whose behalf a transfer moved; invalid and null where no job's collective did. */
struct FlowOwner
{
    static constexpr uint32_t NO_COLLECTIVE_JOB = 0xffffffff;

    JobId job;
    uint32_t collectiveJob{NO_COLLECTIVE_JOB}; //!< of Simulation::Collectives, instead of a job
    uint32_t trafficJob{NO_COLLECTIVE_JOB};    //!< of Simulation::TrafficJobs, instead of a job
    uint64_t collective{0};    //!< CollectiveRecord::number, or that of the call or the flow
    const StepOp* op{nullptr}; //!< of the job's graph
    uint32_t label{0};         //!< of the graph's labels, or Simulation::TrafficLabels
};

/** One transfer of the transport. */
struct FlowRecord
{
    FlowOwner owner;
    RouteId route;
    FlowPath path;          //!< when it ended
    uint32_t pathNumber{0}; //!< of the run's different paths, in the order of these records
    Bytes bytes;            //!< with flags of LL and LL128, without headers of packets
    double weight{1};
    Time ideal;          //!< what it takes uncontended, see Transport::UncontendedTime
    bool isShown{false}; //!< while a step was under way that a timeline shows
    Time started;
    Time finished;
    FlowCounters packets; //!< of its packets, where it was some
};

/** What a link carried in one bin of the link series. */
struct LinkBinRecord
{
    LinkId link;
    int64_t bin{0};
    double bytes{0};
};

/** What happened at a port in one bin of the port series. */
struct PortBinRecord
{
    LinkId link;
    uint32_t bin{0};
    Time width;           //!< of bins
    double meanQueued{0}; //!< bytes
    Bytes maxQueued;      //!< at once
    Time waiting;         //!< with a queue
    Time paused;          //!< by PFC
    Time creditWait;      //!< in which a packet waited for credits
    Time waitingHeld;     //!< with a queue and either
    uint32_t marks{0};
    uint32_t drops{0};
};

/** A time in which a port was paused, in whatever traffic classes. */
struct PauseRecord
{
    LinkId link;
    Time started;
    Time finished;
};

/** One step of one job. */
struct StepRecord
{
    JobId job;
    uint32_t step{0};
    Time started;
    Time finished;
};

/** Takes records as they happen: the result file, the timeline. */
class RecordSink
{
  public:
    virtual ~RecordSink() = default;

    virtual void OnOp(const OpRecord& record)
    {
    }

    virtual void OnCollective(const CollectiveRecord& record)
    {
    }

    virtual void OnCall(const CallRecord& record)
    {
    }

    virtual void OnFlow(const FlowRecord& record)
    {
    }

    virtual void OnLinkBin(const LinkBinRecord& record)
    {
    }

    /** Told at the end of the run, as of pauses. */
    virtual void OnPortBin(const PortBinRecord& record)
    {
    }

    virtual void OnPause(const PauseRecord& record)
    {
    }

    /** There were @p count more pauses. */
    virtual void OnPausesLeftOut(uint64_t count)
    {
    }

    virtual void OnStep(const StepRecord& record)
    {
    }
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORD_H
