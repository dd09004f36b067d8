// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H
#define WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H

#include "fabric/transport/packet/flow-counters.h"
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
        : table(file, "/steps", "row"),
          job(table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"})),
          step(table.Add<uint32_t>({"step", "1", "number of the step, from 0", ""})),
          start(table.Add<double>({"start", "s", "when the step began", ""})),
          duration(table.Add<double>({"duration", "s", "how long the step took", ""}))
    {
    }

    Hdf5Table table;
    Numbers& job;
    Numbers& step;
    Reals& start;
    Reals& duration;
};

/** /ops: operations of ranks. */
struct OpTable
{
    explicit OpTable(Hdf5File& file)
        : table(file, "/ops", "op"),
          job(table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"})),
          step(table.Add<uint32_t>({"step", "1", "number of the step, from 0", ""})),
          rank(table.Add<uint32_t>({"rank", "", "rank within the job", ""})),
          ranks(
              table.Add<uint32_t>({"ranks", "1", "ranks of its program, for which it stands", ""})),
          stream(table.Add<uint32_t>({"stream", "", "CUDA stream", "/catalogs/streams/name"})),
          label(table.Add<uint32_t>({"label", "", "what it does", "/catalogs/labels/name"})),
          microBatch(table.Add<uint32_t>({"micro_batch", "1", "micro-batch, from 0", ""})),
          bytes(table.Add<int64_t>({"bytes", "B", "size of a communication, 0 else", ""})),
          posted(table.Add<double>({"posted", "s", "when the rank reached it", ""})),
          start(table.Add<double>({"start", "s", "when it began to make progress", ""})),
          finish(table.Add<double>({"finish", "s", "when it ended", ""}))
    {
    }

    Hdf5Table table;
    Numbers& job;
    Numbers& step;
    Numbers& rank;
    Numbers& ranks;
    Numbers& stream;
    Numbers& label;
    Numbers& microBatch;
    Counts& bytes;
    Reals& posted;
    Reals& start;
    Reals& finish;
    int64_t leftOut{0}; //!< rows past the limit
};

/** /collectives: collectives and send/recv pairs of groups. */
struct CollectiveTable
{
    explicit CollectiveTable(Hdf5File& file)
        : table(file, "/collectives", "collective"),
          job(table.Add<uint32_t>({"job", "", "job", "/catalogs/jobs/name"})),
          id(table.Add<uint32_t>({"id", "", "number in the job, as in /flows/collective", ""})),
          step(table.Add<uint32_t>(
              {"step", "1", "number of the step (of a collective job: round), from 0", ""})),
          group(table.Add<uint32_t>({"group", "", "group of ranks within the job", ""})),
          groups(table.Add<double>(
              {"groups", "1", "groups of the same programs, for which it stands", ""})),
          firstRank(table.Add<uint32_t>({"first_rank", "", "first rank of the group", ""})),
          ranks(table.Add<uint32_t>({"ranks", "1", "ranks in the group", ""})),
          op(table.Add<uint32_t>({"op", "", "operation", "/catalogs/collective_ops/name"})),
          label(table.Add<uint32_t>({"label", "", "what it does", "/catalogs/labels/name"})),
          algorithm(
              table.Add<uint32_t>({"algorithm", "", "algorithm", "/catalogs/algorithms/name"})),
          protocol(table.Add<uint32_t>({"protocol", "", "protocol", "/catalogs/protocols/name"})),
          channels(table.Add<uint32_t>({"channels", "1", "channels used", ""})),
          bytes(table.Add<int64_t>({"bytes", "B", "size as nccl-tests counts it", ""})),
          firstArrival(table.Add<double>({"first_arrival", "s", "when its first rank came", ""})),
          start(table.Add<double>({"start", "s", "when its last rank came", ""})),
          finish(table.Add<double>({"finish", "s", "when it ended on all ranks", ""})),
          fidelity(table.Add<uint32_t>(
              {"fidelity", "", "fidelity that it ran in", "/catalogs/fidelities/name"}))
    {
    }

    Hdf5Table table;
    Numbers& job;
    Numbers& id;
    Numbers& step;
    Numbers& group;
    Reals& groups;
    Numbers& firstRank;
    Numbers& ranks;
    Numbers& op;
    Numbers& label;
    Numbers& algorithm;
    Numbers& protocol;
    Numbers& channels;
    Counts& bytes;
    Reals& firstArrival;
    Reals& start;
    Reals& finish;
    Numbers& fidelity;
    int64_t leftOut{0}; //!< rows past the limit
};

/** /flows: transfers. */
struct FlowTable
{
    FlowTable(Hdf5File& file, bool hasPackets)
        : table(file, "/flows", "flow"),
          job(table.Add<uint32_t>({"job", "", "job, or background", "/catalogs/jobs/name"})),
          collective(table.Add<uint32_t>({"collective",
                                          "",
                                          "of the job, as in /collectives/id (of traffic: number "
                                          "of the flow); 4294967295: none",
                                          ""})),
          label(table.Add<uint32_t>({"label", "", "what it is for", "/catalogs/labels/name"})),
          source(table.Add<uint32_t>(
              {"source", "", "where it begins; empty: at every rank", "/catalogs/devices/name"})),
          destination(table.Add<uint32_t>(
              {"destination", "", "where it ends, similarly", "/catalogs/devices/name"})),
          path(table.Add<uint32_t>({"path", "", "path, as in /flow_paths/path", ""})),
          bytes(table.Add<int64_t>({"bytes", "B", "bytes on the wire", ""})),
          weight(table.Add<double>(
              {"weight", "1", "weight of its share of links; k equal flows as one: k", ""})),
          start(table.Add<double>({"start", "s", "when it was started", ""})),
          finish(table.Add<double>({"finish", "s", "when its last byte had passed", ""})),
          fct(table.Add<double>({"fct", "s", "flow completion time: finish - start", ""})),
          slowdown(
              table.Add<double>({"slowdown", "1", "fct over that of the flow uncontended", ""}))
    {
        if (hasPackets)
        {
            packets.emplace(table);
        }
    }

    /** What its packets have met; 0 for one that is none of packets. */
    struct PacketColumns
    {
        explicit PacketColumns(Hdf5Table& table)
            : marks(table.Add<uint32_t>({"marks", "1", "packets that arrived marked (ECN)", ""})),
              drops(table.Add<uint32_t>({"drops", "1", "packets lost", ""})),
              trims(table.Add<uint32_t>({"trims", "1", "packets that arrived trimmed", ""})),
              retransmissions(
                  table.Add<uint32_t>({"retransmissions", "1", "packets sent again", ""})),
              paused(table.Add<double>(
                  {"paused", "s", "in which the port into the network was paused", ""}))
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

        Numbers& marks;
        Numbers& drops;
        Numbers& trims;
        Numbers& retransmissions;
        Reals& paused;
    };

    Hdf5Table table;
    Numbers& job;
    Numbers& collective;
    Numbers& label;
    Numbers& source;
    Numbers& destination;
    Numbers& path;
    Counts& bytes;
    Reals& weight;
    Reals& start;
    Reals& finish;
    Reals& fct;
    Reals& slowdown;
    std::optional<PacketColumns> packets; //!< where the transport has some
    int64_t leftOut{0};                   //!< rows past the limit
    std::vector<bool> paths;              //!< by PathId: whether a row refers to it
};

/** /link_series: what links carried, by time bin. */
struct LinkBinTable
{
    explicit LinkBinTable(Hdf5File& file)
        : table(file, "/link_series", ""),
          link(table.Add<uint32_t>({"link", "", "link", "/links/name"})),
          bin(table.Add<int64_t>({"bin", "1", "number of the time bin, from 0", ""})),
          bytes(table.Add<float>({"bytes", "B", "bytes carried in the bin", ""}))
    {
    }

    Hdf5Table table;
    Numbers& link;
    Counts& bin;
    Hdf5Column<float>& bytes;
};

/** /port_series: queue lengths and pauses of the busiest ports, by time bin. */
struct PortBinTable
{
    explicit PortBinTable(Hdf5File& file)
        : table(file, "/port_series", ""),
          link(table.Add<uint32_t>({"link", "", "link that the port leads to", "/links/name"})),
          bin(table.Add<uint32_t>({"bin", "1", "number of the time bin, from 0", ""})),
          queue(table.Add<float>({"queue", "B", "bytes that waited in it, mean of the bin", ""})),
          maxQueued(table.Add<int64_t>({"max_queued", "B", "most bytes that waited", ""})),
          queued(table.Add<double>({"queued", "s", "time with a queue", ""})),
          paused(table.Add<double>({"paused", "s", "time in which a class was paused", ""})),
          creditWait(table.Add<double>(
              {"credit_wait", "s", "time in which a packet waited for credits", ""})),
          queuedHeld(table.Add<double>({"queued_held", "s", "time with a queue and either", ""})),
          marks(table.Add<uint32_t>({"marks", "1", "packets marked (ECN)", ""})),
          drops(table.Add<uint32_t>({"drops", "1", "packets lost", ""}))
    {
    }

    Hdf5Table table;
    Numbers& link;
    Numbers& bin;
    Hdf5Column<float>& queue;
    Counts& maxQueued;
    Reals& queued;
    Reals& paused;
    Reals& creditWait;
    Reals& queuedHeld;
    Numbers& marks;
    Numbers& drops;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RECORD_TABLES_H
