// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORD_H
#define WEIR_SCENARIOS_RESULTS_RECORD_H

#include "compute-model/graph/step-program.h"
#include "fabric/ids.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/**
 * @file
 * Events of a run, one record type each. The recorder creates records; the result file and the
 * timeline consume them.
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
    bool isShown{false}; //!< in the step that timelines show
    Time posted;         //!< when the rank reached it
    Time started;        //!< when it began to make progress
    Time finished;
};

/** One call of a job that is a collective. */
struct CallRecord
{
    uint32_t collectiveJob{0}; //!< index into Simulation::Collectives
    uint32_t number{0};        //!< index of the call in the job
    Time started;
    Time finished;
};

/** One collective or send/recv of one group. */
struct CollectiveRecord
{
    JobId job;
    uint32_t step{0};
    uint32_t group{0}; //!< index into the job's StepGraph::groups
    const StepOp* op{nullptr};
    uint64_t number{0};  //!< index in the job's collectives, in the order of their starts
    bool isShown{false}; //!< in the step that timelines show
    Time firstArrival;
    Time started; //!< when the last rank arrived
    Time finished;
};

/** Work of any kind, by its index among the work of that kind. */
struct WorkId
{
    enum class Kind : uint8_t
    {
        Training,
        Collective,
        Traffic
    };

    Kind kind{Kind::Training};
    std::size_t index{0}; //!< JobId, or index into Simulation::Collectives or TrafficJobs

    friend bool operator==(WorkId a, WorkId b)
    {
        return a.kind == b.kind && a.index == b.index;
    }
};

/** The owner of a transfer. */
struct FlowOwner
{
    std::optional<WorkId> work{}; //!< nothing: flows of no job
    uint64_t collective{0};       //!< CollectiveRecord::number, or the index of the call or flow
    uint32_t label{0};            //!< index into the graph's labels or Simulation::TrafficLabels

    bool IsTraining() const
    {
        return work && work->kind == WorkId::Kind::Training;
    }
};

/** One transfer of the transport. */
struct FlowRecord
{
    FlowOwner owner;
    RouteId route;
    FlowPath path;          //!< when it finished
    uint32_t pathNumber{0}; //!< index of the path in the run, in the order of these records
    Bytes bytes;            //!< including LL and LL128 flags, excluding packet headers
    double weight{1};
    Time ideal;          //!< uncontended completion time, see Transport::UncontendedTime
    bool isShown{false}; //!< finished in a step that timelines show
    Time started;
    Time finished;
    FlowCounters packets; //!< counters of its packets; zero for a fluid flow
};

/** Bytes that a link carried in one bin of the link series. */
struct LinkBinRecord
{
    LinkId link;
    int64_t bin{0};
    double bytes{0};
};

/** State of a port in one bin of the port series. */
struct PortBinRecord
{
    LinkId link;
    uint32_t bin{0};
    Time width;           //!< bin width
    double meanQueued{0}; //!< bytes
    Bytes maxQueued;      //!< maximum at any instant
    Time waiting;         //!< with a non-empty queue
    Time paused;          //!< by PFC
    Time creditWait;      //!< with a packet waiting for credits
    Time waitingHeld;     //!< with a non-empty queue while paused or waiting for credits
    uint32_t marks{0};
    uint32_t drops{0};
};

/** A period in which at least one traffic class of a port was paused. */
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

/** Consumes records as events happen, such as the result file or the timeline. */
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

    /** Called at the end of the run, as is OnPause. */
    virtual void OnPortBin(const PortBinRecord& record)
    {
    }

    virtual void OnPause(const PauseRecord& record)
    {
    }

    /** Reports that @p count pauses were left out. */
    virtual void OnPausesLeftOut(uint64_t count)
    {
    }

    virtual void OnStep(const StepRecord& record)
    {
    }
};

/** The sinks of a recording. */
class RecordSinks
{
  public:
    RecordSinks() = default;

    RecordSinks(RecordSink& only)
        : m_sinks{&only}
    {
    }

    void Add(RecordSink& sink)
    {
        m_sinks.push_back(&sink);
    }

    void Clear()
    {
        m_sinks.clear();
    }

    /** Passes @p record to the function @p on of every sink. */
    template <typename On, typename Record>
    void Tell(On on, const Record& record) const
    {
        for (RecordSink* sink : m_sinks)
        {
            (sink->*on)(record);
        }
    }

  private:
    std::vector<RecordSink*> m_sinks;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORD_H
