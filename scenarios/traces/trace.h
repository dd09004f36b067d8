// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_TRACES_TRACE_H
#define WEIR_SCENARIOS_TRACES_TRACE_H

#include "collectives/collective.h"
#include "compute-model/layers/step-stream.h"
#include "fabric/units.h"
#include "scenarios/yaml/input-error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * What the readers of traces and workloads of other programs make of them: events of ranks, one for
 * each kernel, collective, send or receive, whatever the dialect.
 */
namespace weir
{

/** Of one message; beyond, a file is wrong. */
constexpr int64_t MAX_EVENT_BYTES = int64_t{1} << 50;

/** What an event of a trace is. */
enum class TraceEventKind : uint8_t
{
    Mark, //!< takes no time: only events behind it depend on those before it (a CPU operation)
    Compute,
    Collective,
    Send,
    Recv
};

/** One event of one rank. */
struct TraceEvent
{
    TraceEventKind kind{TraceEventKind::Mark};
    uint64_t position{0};        //!< in the file, where events have another order
    std::string id;              //!< its place in the file, for messages: "node 17", "line 3"
    std::string name;            //!< as the file has it
    bool isHost{false};          //!< the CPU does it, not the GPU
    int64_t stream{NO_STREAM};   //!< CUDA stream or CPU: events of one run one at a time
    Time duration;               //!< recorded; of a communication: only told
    std::optional<Time> begin;   //!< recorded, from the file's own origin
    Time launch;                 //!< when the CPU had launched it, from its last synchronization
    uint32_t epoch{0};           //!< synchronizations of CPU and GPU before its launch
    double flops{0};             //!< of Compute, where the file says so
    Bytes memory;                //!< of Compute, its memory traffic
    std::vector<uint32_t> after; //!< indices of events of this rank that must have ended

    CollectiveOp op{CollectiveOp::AllReduce};
    std::string group;    //!< of Collective: into RankTrace::groups
    int64_t sequence{-1}; //!< of Collective, as the file counts them on its group; -1: it does not
    Bytes in;             //!< that the rank gives, of Collective, Send and Recv
    Bytes out;            //!< that the rank gets
    std::string dtype;    //!< "" where the file has none
    uint32_t channels{0}; //!< of NCCL's kernel; 0: the file does not say
    std::vector<Bytes> inSplits;  //!< of an uneven all-to-all: by group rank, given
    std::vector<Bytes> outSplits; //!< ... got
    uint32_t root{0};             //!< group rank, of Broadcast, Reduce, Gather and Scatter
    uint32_t peer{0};             //!< rank, of Send and Recv
    int64_t tag{0};
    TimeCategory category{TimeCategory::Data}; //!< how waiting for it is booked

    static constexpr int64_t NO_STREAM = -1;

    bool IsCommunication() const
    {
        return kind > TraceEventKind::Compute;
    }
};

/** The ranks of a process group. */
struct TraceGroup
{
    std::vector<uint32_t>
        ranks;        //!< in order; empty: as many as size, stride apart, around the rank
    uint32_t size{0}; //!< 0 and no ranks: all ranks
    uint32_t stride{1};
};

/** A collective that a host trace has and the kernel trace of the same rank may lack. */
struct HostCall
{
    TraceEvent event;
    std::vector<uint64_t> recordIds; //!< rf_id of its views: c10d, record_param_comms, nccl
};

/** What one rank did, or what every rank does. */
struct RankTrace
{
    std::optional<uint32_t> rank; //!< empty: the file does not say
    uint32_t ranks{0};            //!< where one stands for all: how many these are; 0: it does not
    std::string file;             //!< for messages
    std::vector<TraceEvent> events; //!< in the order in which the file has them
    bool isOrdered{false}; //!< events of one stream run in that order; false: as they get ready
    std::map<std::string, TraceGroup> groups; //!< by the name that events use
    std::vector<HostCall> hostCalls;          //!< of a PyTorch ExecutionTrace
    std::map<uint32_t, uint64_t> recordIds;   //!< of Kineto, by event: rf_id of what launched it
};

/** How large a collective is, where files of one dialect mean different buffers. */
enum class GatherSize : uint8_t
{
    ByFile, //!< by what wrote the file
    Shard,  //!< of an all-gather: what a rank gives
    Total   //!< of an all-gather: what a rank gets
};

/** What a user says of files. */
struct TraceOptions
{
    GatherSize gatherSize{GatherSize::ByFile};
    bool dropsDangling{false}; //!< dependencies on nodes that are not there are left out
    uint32_t ranks{0};         //!< one rank is played by so many; 0: every rank has its file
    std::map<std::string, std::vector<uint32_t>> groups{}; //!< comm_group.json
};

/** One file (or one of an archive), read. */
struct TraceFile
{
    std::string path;
    std::string dialect;                        //!< "Chakra ET 0.0.4 (protobuf)"
    std::size_t nodes{0};                       //!< events, rows or nodes in it, of all kinds
    std::size_t kernels{0};                     //!< GPU kernels, or what stands for them
    std::vector<RankTrace> ranks;               //!< one; of GOAL all
    std::map<std::string, std::size_t> dropped; //!< by reason: nodes without an event
    std::size_t dangling{0};                    //!< dependencies on nodes that are not there
    std::string firstDangling;                  //!< the first of them
    std::vector<std::string> remarks;           //!< defaults taken
    std::vector<std::string> listing;           //!< what else it holds, for a file that is no trace
    double origin{0}; //!< us of the file's clock from which times count; 0: the clock's own zero
    bool isHostTrace{false};   //!< PyTorch's ExecutionTrace: no kernels, no times
    bool isKernelTrace{false}; //!< Kineto
    bool isJoined{false}; //!< a host trace whose calls the kernel trace of its rank has: not played
};

/** Traces that are right and not all: more files or options would make a workload of them. */
class IncompleteTraces : public InputError
{
  public:
    using InputError::InputError;
};

/** Of a communication: the size as nccl-tests counts it (CollectiveCall::bytes). */
Bytes CallSize(const TraceEvent& event);

/**
 * Fills in what follows of what a rank gives or gets among @p ranks ranks, where a file has only
 * one of them: of an all-gather, gather, reduce-scatter or scatter the shard or the whole, of
 * others the same.
 */
void CompleteSizes(TraceEvent& event, std::size_t ranks);

/** The rank that the name of a file has: of "a.3.et", "rank-3.json", "worker3_step_12". */
std::optional<uint32_t> RankOfFileName(const std::string& path);

/** "all-reduce", of a send "send". */
std::string NameOfCall(const TraceEvent& event);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_H
