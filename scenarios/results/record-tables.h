// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H
#define WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H

#include "fabric/routing/path-table.h"
#include "fabric/transport/packet/packet-counters.h"
#include "scenarios/results/hdf5-table.h"

#include <cstdint>
#include <optional>
#include <vector>

/**
 * @file
 * The tables of a result file that grow while a run goes on, as their columns.
 */
namespace weir
{

using Reals = Hdf5Column<double>;
using Numbers = Hdf5Column<uint32_t>;
using Counts = Hdf5Column<int64_t>;

/** /steps: every step of every job. */
struct StepTable
{
    explicit StepTable(Hdf5File& file)
        : table(file, "/steps", "row")
    {
    }

    Hdf5Table table;
    Numbers& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    Numbers& step = table.Add<uint32_t>({"step", "1", "number of the step, from 0", ""});
    Reals& start = table.Add<double>({"start", "s", "when the step began", ""});
    Reals& duration = table.Add<double>({"duration", "s", "how long the step took", ""});
};

/** /ops: operations of ranks. */
struct OpTable
{
    explicit OpTable(Hdf5File& file)
        : table(file, "/ops", "op")
    {
    }

    Hdf5Table table;
    Numbers& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    Numbers& step = table.Add<uint32_t>({"step", "1", "number of the step, from 0", ""});
    Numbers& rank = table.Add<uint32_t>({"rank", "", "rank within the job", ""});
    Numbers& ranks =
        table.Add<uint32_t>({"ranks", "1", "ranks of its program, for which it stands", ""});
    Numbers& stream = table.Add<uint32_t>({"stream", "", "CUDA stream", "/catalogs/streams/name"});
    Numbers& label = table.Add<uint32_t>({"label", "", "what it does", "/catalogs/labels/name"});
    Numbers& microBatch = table.Add<uint32_t>({"micro_batch", "1", "micro-batch, from 0", ""});
    Counts& bytes = table.Add<int64_t>({"bytes", "B", "size of a communication, 0 else", ""});
    Reals& posted = table.Add<double>({"posted", "s", "when the rank reached it", ""});
    Reals& start = table.Add<double>({"start", "s", "when it began to make progress", ""});
    Reals& finish = table.Add<double>({"finish", "s", "when it ended", ""});
    int64_t leftOut{0}; //!< rows past the limit
};

/** /collectives: collectives and send/recv pairs of groups. */
struct CollectiveTable
{
    explicit CollectiveTable(Hdf5File& file)
        : table(file, "/collectives", "collective")
    {
    }

    Hdf5Table table;
    Numbers& job = table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"});
    Numbers& id = table.Add<uint32_t>({"id", "", "number in the job, as in /flows/collective", ""});
    Numbers& step = table.Add<uint32_t>(
        {"step", "1", "number of the step (of a collective job: round), from 0", ""});
    Numbers& group = table.Add<uint32_t>({"group", "", "group of ranks within the job", ""});
    Reals& groups =
        table.Add<double>({"groups", "1", "groups of the same programs, for which it stands", ""});
    Numbers& firstRank = table.Add<uint32_t>({"first_rank", "", "first rank of the group", ""});
    Numbers& ranks = table.Add<uint32_t>({"ranks", "1", "ranks in the group", ""});
    Numbers& op = table.Add<uint32_t>({"op", "", "operation", "/catalogs/collective_ops/name"});
    Numbers& label = table.Add<uint32_t>({"label", "", "what it does", "/catalogs/labels/name"});
    Numbers& algorithm =
        table.Add<uint32_t>({"algorithm", "", "algorithm", "/catalogs/algorithms/name"});
    Numbers& protocol =
        table.Add<uint32_t>({"protocol", "", "protocol", "/catalogs/protocols/name"});
    Numbers& channels = table.Add<uint32_t>({"channels", "1", "channels used", ""});
    Counts& bytes = table.Add<int64_t>({"bytes", "B", "size as nccl-tests counts it", ""});
    Reals& firstArrival = table.Add<double>({"first_arrival", "s", "when its first rank came", ""});
    Reals& start = table.Add<double>({"start", "s", "when its last rank came", ""});
    Reals& finish = table.Add<double>({"finish", "s", "when it ended on all ranks", ""});
    Numbers& fidelity = table.Add<uint32_t>(
        {"fidelity", "", "fidelity that it ran in", "/catalogs/fidelities/name"});
    int64_t leftOut{0}; //!< rows past the limit
};

/** /flows: transfers. */
struct FlowTable
{
    FlowTable(Hdf5File& file, bool hasPackets)
        : table(file, "/flows", "flow")
    {
        if (hasPackets)
        {
            packets.emplace(table);
        }
    }

    /** What its packets have met; 0 for one that is none of packets. */
    struct PacketColumns
    {
        explicit PacketColumns(Hdf5Table& ofFlows)
            : table(ofFlows)
        {
        }

        void Append(const FlowCounters& counters)
        {
            marks.Append(counters.marks);
            drops.Append(counters.drops);
            trims.Append(counters.trims);
            retransmissions.Append(counters.retransmissions);
            paused.Append(static_cast<double>(counters.paused) * 1e-12);
        }

        Hdf5Table& table;
        Numbers& marks =
            table.Add<uint32_t>({"marks", "1", "packets that arrived marked (ECN)", ""});
        Numbers& drops = table.Add<uint32_t>({"drops", "1", "packets lost", ""});
        Numbers& trims = table.Add<uint32_t>({"trims", "1", "packets that arrived trimmed", ""});
        Numbers& retransmissions =
            table.Add<uint32_t>({"retransmissions", "1", "packets sent again", ""});
        Reals& paused =
            table.Add<double>({"paused", "s", "in which the port into the network was paused", ""});
    };

    Hdf5Table table;
    Numbers& job = table.Add<uint32_t>({"job", "", "job, or background", "/catalogs/jobs/name"});
    Numbers& collective =
        table.Add<uint32_t>({"collective",
                             "",
                             "of the job, as in /collectives/id (of traffic: number "
                             "of the flow); 4294967295: none",
                             ""});
    Numbers& label = table.Add<uint32_t>({"label", "", "what it is for", "/catalogs/labels/name"});
    Numbers& source = table.Add<uint32_t>(
        {"source", "", "where it begins; empty: at every rank", "/catalogs/devices/name"});
    Numbers& destination = table.Add<uint32_t>(
        {"destination", "", "where it ends, similarly", "/catalogs/devices/name"});
    Numbers& path = table.Add<uint32_t>({"path", "", "path, as in /flow_paths/path", ""});
    Counts& bytes = table.Add<int64_t>({"bytes", "B", "bytes on the wire", ""});
    Reals& weight = table.Add<double>(
        {"weight", "1", "weight of its share of links; k equal flows as one: k", ""});
    Reals& start = table.Add<double>({"start", "s", "when it was started", ""});
    Reals& finish = table.Add<double>({"finish", "s", "when its last byte had passed", ""});
    Reals& fct = table.Add<double>({"fct", "s", "flow completion time: finish - start", ""});
    Reals& slowdown =
        table.Add<double>({"slowdown", "1", "fct over that of the flow uncontended", ""});
    std::optional<PacketColumns> packets; //!< where the transport has some
    int64_t leftOut{0};                   //!< rows past the limit
    std::vector<FlowPath> paths;          //!< by number; invalid: no row refers to it
};

/** /link_series: what links carried, by time bin. */
struct LinkBinTable
{
    explicit LinkBinTable(Hdf5File& file)
        : table(file, "/link_series", "")
    {
    }

    Hdf5Table table;
    Numbers& link = table.Add<uint32_t>({"link", "", "link", "/links/name"});
    Counts& bin = table.Add<int64_t>({"bin", "1", "number of the time bin, from 0", ""});
    Hdf5Column<float>& bytes = table.Add<float>({"bytes", "B", "bytes carried in the bin", ""});
};

/** /port_series: queue lengths and pauses of the busiest ports, by time bin. */
struct PortBinTable
{
    explicit PortBinTable(Hdf5File& file)
        : table(file, "/port_series", "")
    {
    }

    Hdf5Table table;
    Numbers& link = table.Add<uint32_t>({"link", "", "link that the port leads to", "/links/name"});
    Numbers& bin = table.Add<uint32_t>({"bin", "1", "number of the time bin, from 0", ""});
    Hdf5Column<float>& queue =
        table.Add<float>({"queue", "B", "bytes that waited in it, mean of the bin", ""});
    Counts& maxQueued = table.Add<int64_t>({"max_queued", "B", "most bytes that waited", ""});
    Reals& queued = table.Add<double>({"queued", "s", "time with a queue", ""});
    Reals& paused = table.Add<double>({"paused", "s", "time in which a class was paused", ""});
    Reals& creditWait =
        table.Add<double>({"credit_wait", "s", "time in which a packet waited for credits", ""});
    Reals& queuedHeld = table.Add<double>({"queued_held", "s", "time with a queue and either", ""});
    Numbers& marks = table.Add<uint32_t>({"marks", "1", "packets marked (ECN)", ""});
    Numbers& drops = table.Add<uint32_t>({"drops", "1", "packets lost", ""});
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H
