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
 * Common representation of traces and workloads of other programs: events per rank, one per kernel,
 * collective, send or receive, independent of the file format.
 */
namespace weir
{

/** Maximum size of one message; larger values mean that a file is damaged. */
constexpr int64_t MAX_EVENT_BYTES = int64_t{1} << 50;

enum class TraceEventKind : uint8_t
{
    Mark, //!< takes no time and only passes on dependencies (a CPU operation)
    Compute,
    Collective,
    Send,
    Recv
};

/** One event of one rank. */
struct TraceEvent
{
    TraceEventKind kind{TraceEventKind::Mark};
    uint64_t position{0};        //!< index in the file, if events were reordered
    std::string id;              //!< location in the file, for messages: "node 17", "line 3"
    std::string name;            //!< as in the file
    bool isHost{false};          //!< runs on the CPU, not on the GPU
    int64_t stream{NO_STREAM};   //!< CUDA stream or CPU; events of one stream run one at a time
    Time duration;               //!< as recorded; for communication only informative
    std::optional<Time> begin;   //!< as recorded, relative to the file's origin
    Time launch;                 //!< end of the CPU's launch call, since the last synchronization
    uint32_t epoch{0};           //!< number of synchronizations of CPU and GPU before the launch
    double flops{0};             //!< of Compute, if the file has it
    Bytes memory;                //!< of Compute: memory traffic
    std::vector<uint32_t> after; //!< indices of events of this rank that must have ended before

    CollectiveOp op{CollectiveOp::AllReduce};
    std::string group;            //!< of Collective: key of RankTrace::groups
    Bytes in;                     //!< sent by the rank, for Collective, Send and Recv
    Bytes out;                    //!< received by the rank
    std::string dtype;            //!< "" if the file has none
    uint32_t channels{0};         //!< of NCCL's kernel; 0: unknown
    std::vector<Bytes> inSplits;  //!< of an uneven all-to-all: bytes sent, by group rank
    std::vector<Bytes> outSplits; //!< similarly, bytes received
    uint32_t peer{0};             //!< rank, for Send and Recv
    int64_t tag{0};
    TimeCategory category{TimeCategory::Data}; //!< category of the waiting time

    static constexpr int64_t NO_STREAM = -1;

    bool IsCommunication() const
    {
        return kind > TraceEventKind::Compute;
    }

    bool HasSplits() const
    {
        return !inSplits.empty() || !outSplits.empty();
    }
};

/** The ranks of a process group. */
struct TraceGroup
{
    std::vector<uint32_t>
        ranks;        //!< in order; empty: size ranks at distance stride, including the rank
    uint32_t size{0}; //!< 0 without ranks: all ranks
    uint32_t stride{1};
};

/** A collective in a host trace; the kernel trace of the same rank may lack its details. */
struct HostCall
{
    TraceEvent event;
    std::vector<uint64_t> recordIds; //!< rf_id of its views: c10d, record_param_comms, nccl
};

/** The trace of one rank, or of one rank that represents all. */
struct RankTrace
{
    std::optional<uint32_t> rank;   //!< empty: unknown
    uint32_t ranks{0};              //!< number of ranks that this one represents; 0: only itself
    uint32_t world{0};              //!< number of ranks of the recorded job; 0: unknown
    std::string file;               //!< for messages
    std::vector<TraceEvent> events; //!< in file order; those of Chakra by node id
    bool isOrdered{false}; //!< events of one stream run in file order; false: as they become ready
    std::map<std::string, TraceGroup> groups; //!< keyed by the name that events use
    std::vector<HostCall> hostCalls;          //!< of a PyTorch ExecutionTrace
    std::map<uint32_t, uint64_t> recordIds;   //!< Kineto: rf_id of the launcher by event index
};

/**
 * Which buffer the size of an all-gather counts; programs that write the same format differ in it.
 */
enum class GatherSize : uint8_t
{
    ByFile, //!< according to the program that wrote the file
    Shard,  //!< the buffer that a rank sends
    Total   //!< the buffer that a rank receives
};

struct TraceOptions
{
    GatherSize gatherSize{GatherSize::ByFile};
    bool dropsDangling{false}; //!< ignores dependencies on missing nodes
    uint32_t ranks{0};         //!< ranks that one rank represents; 0: one file per rank
    std::map<std::string, std::vector<uint32_t>> groups{}; //!< comm_group.json
};

/** The trace in one file, or in one file of an archive. */
struct TraceFile
{
    std::string path;
    std::string dialect;                        //!< "Chakra ET 0.0.4 (protobuf)"
    std::size_t nodes{0};                       //!< number of events, rows or nodes of all kinds
    std::size_t kernels{0};                     //!< number of GPU kernels or equivalent
    std::vector<RankTrace> ranks;               //!< one; for GOAL all ranks
    std::map<std::string, std::size_t> dropped; //!< number of nodes without an event, by reason
    std::size_t dangling{0};                    //!< number of dependencies on missing nodes
    std::string firstDangling;                  //!< the first of them
    std::vector<std::string> remarks;           //!< defaults used
    std::vector<std::string> listing;           //!< other content, for a file that is not a trace
    double origin{0};          //!< time zero in us of the file's clock; 0: that of the clock
    bool isHostTrace{false};   //!< PyTorch's ExecutionTrace: no kernels, no times
    bool isKernelTrace{false}; //!< Kineto
    bool isJoined{false};      //!< host trace joined into a kernel trace: not simulated
};

/** Valid but incomplete traces: with more files or options they would form a workload. */
class IncompleteTraces : public InputError
{
  public:
    using InputError::InputError;
};

/** Size of a communication as nccl-tests defines it (CollectiveCall::bytes). */
Bytes CallSize(const TraceEvent& event);

/**
 * Completes the sent or received size of @p event, a collective on @p ranks ranks, when the file
 * has only one of them: from shard to total or vice versa for an all-gather, gather, reduce-scatter
 * or scatter, the same size for others. A total is above MAX_EVENT_BYTES where it exceeds that.
 */
void CompleteSizes(TraceEvent& event, std::size_t ranks);

/**
 * The rank in a file name such as "rank-3.json", "worker3_step_12" or, the last number between
 * dots, "llama3.1.8b.3.et"; nothing if there is none.
 */
std::optional<uint32_t> RankOfFileName(const std::string& path);

/** Adds the remark "COUNT WHAT" unless @p count is 0. */
void AddRemark(std::size_t count, const std::string& what, std::vector<std::string>& remarks);

/** Remarks on sends and receives without a peer, and on abbreviated lists of splits. */
constexpr const char* UNPAIRED =
    "send or receive kernels name no peer: they keep their recorded time";
constexpr const char* ABBREVIATED = "lists of splits are abbreviated: taken as even";

/** Name of the operation: "all-reduce"; for a send "send". */
std::string NameOfCall(const TraceEvent& event);

} // namespace weir

#endif // WEIR_SCENARIOS_TRACES_TRACE_H
