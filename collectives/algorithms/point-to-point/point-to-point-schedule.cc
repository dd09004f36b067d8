// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/point-to-point/peer-call.h"
#include "collectives/algorithms/point-to-point/point-to-point.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

/**
 * @file
 * Grouped sends and receives as thread blocks.
 *
 * Each of a block's eight work slots (PeerCall) has two groups of threads, one that sends and one
 * that receives. Each group is a ThreadBlock here. It starts its next round when the previous round
 * is done in both directions: the receiving group tells the sending one by messages of zero bytes
 * over one connection that has room for all of them. NCCL waits for all eight slots before it
 * continues; here each of the eight continues independently.
 */
namespace weir
{

namespace
{

constexpr uint32_t SHARED_SLOTS = 16; // NCCL_SHARED_STEPS: of a channel's network buffers
constexpr int64_t MAX_CHUNKS = int64_t{1} << 22; // of a part: all of them are listed
constexpr Bytes TOKEN;                           // the size of a message that is only a signal

/** The blocks at a part's two ends. */
struct PartEnds
{
    uint32_t sender{0};
    uint32_t receiver{0};
};

/** Writes the schedule of one channel. */
class ChannelWriter
{
  public:
    /**
     * References must outlive it.
     * @param ends by part of the call; those of the channel's parts are set
     * @param networkSlots of one connection
     */
    ChannelWriter(const AlgorithmInputs& in,
                  const PeerCall& call,
                  std::vector<PartEnds>& ends,
                  uint32_t networkSlots)
        : m_in(in),
          m_call(call),
          m_ends(ends),
          m_networkSlots(networkSlots),
          m_wiring(m_channel)
    {
    }

    /** To be called once. @param onChannel indices of the parts on the channel, by round */
    ChannelSchedule Write(const std::vector<uint32_t>& onChannel)
    {
        const std::vector<PeerCall::Work> works = m_call.WorksOf(onChannel);
        m_channel.connections.reserve(onChannel.size());
        for (auto first = works.begin(); first != works.end();)
        {
            const auto end = std::find_if(
                first, works.end(), [&](const auto& work) { return work.slot != first->slot; });
            AddBlocks({first, end});
            first = end;
        }
        for (const uint32_t part : onChannel)
        {
            Connect(part);
        }
        m_channel.loops.push_back(std::move(m_loop));
        m_channel.blocks.shrink_to_fit();
        m_channel.connections.shrink_to_fit();
        return std::move(m_channel);
    }

  private:
    /** The index of the chunk of @p bytes; chunks of equal size share one. */
    int32_t ClassOf(Bytes bytes)
    {
        const auto [it, isNew] =
            m_classes.emplace(bytes.Count(), static_cast<int32_t>(m_loop.chunks.size()));
        if (isNew)
        {
            m_loop.chunks.push_back(bytes);
        }
        return it->second;
    }

    /**
     * Adds a part, cut into chunks, as primitives of @p kind on a block's @p pipe-th connection.
     * @throws std::length_error for too many chunks
     */
    void AddChunks(Program& program, PrimitiveKind kind, uint32_t index, uint16_t pipe)
    {
        const PeerCall::Part& part = m_call.Parts()[index];
        const Bytes chunk = ChunkOf(m_in, m_call.MessageOf(part));
        if (part.bytes.Count() / chunk.Count() > MAX_CHUNKS)
        {
            throw std::length_error("found a message of " + std::to_string(part.bytes.Count()) +
                                    " bytes on one channel in chunks of " +
                                    std::to_string(chunk.Count()) + ", expected at most " +
                                    std::to_string(MAX_CHUNKS) +
                                    " chunks; fidelity stream has no such limit");
        }
        for (Bytes left = part.bytes; left > Bytes(); left = left - std::min(chunk, left))
        {
            program.primitives.push_back({kind, ClassOf(std::min(chunk, left)), pipe, pipe});
        }
    }

    /** Adds the two groups of a work slot, without groups that have nothing to do. */
    void AddBlocks(const std::vector<PeerCall::Work>& works)
    {
        const bool sends =
            std::any_of(works.begin(), works.end(), [](const auto& work) { return work.sends; });
        const auto sender = static_cast<uint32_t>(m_channel.blocks.size());
        const uint32_t receiver = sender + sends;
        Program sending;
        Program receiving;
        uint16_t sent = 0;
        uint16_t received = 0;
        uint32_t lastReceived = 0; // round
        uint32_t told = 0;         // number of receives that the sending group waits for
        for (const PeerCall::Work& work : works)
        {
            PartEnds& ends = m_ends[work.part];
            if (!work.sends)
            {
                lastReceived = work.round;
                ends.receiver = receiver;
                AddChunks(receiving, PrimitiveKind::Recv, work.part, received++);
                continue;
            }
            const bool isInRound = received > 0 && lastReceived == work.round;
            for (const uint32_t before = received - isInRound; told < before; ++told)
            {
                sending.primitives.push_back({PrimitiveKind::Recv, ClassOf(TOKEN), 0, 0});
            }
            ends.sender = sender;
            AddChunks(sending, PrimitiveKind::Send, work.part, sent++);
        }
        AddBlock(works.front().rank, std::move(sending));
        AddBlock(works.front().rank, TellAfter(receiving, told));
        if (told > 0)
        {
            // Not NVLink: a block that stores to NVLink pauses between slices.
            ScheduleConnection pipe = WithinDevice(m_in);
            pipe.connection.kind = ConnectionKind::Network;
            pipe.slots = told;
            m_wiring.Join(receiver, sender, pipe);
        }
    }

    /**
     * @p receiving, with a signal sent after the last chunk of each of the first @p told
     *    connections.
     */
    Program TellAfter(const Program& receiving, uint32_t told)
    {
        Program program;
        const auto& steps = receiving.primitives;
        for (std::size_t i = 0; i < steps.size(); ++i)
        {
            program.primitives.push_back(steps[i]);
            const uint16_t pipe = steps[i].recvFrom;
            const bool isLast = i + 1 == steps.size() || steps[i + 1].recvFrom != pipe;
            if (isLast && pipe < told)
            {
                program.primitives.push_back({PrimitiveKind::Send, ClassOf(TOKEN), 0, 0});
            }
        }
        return program;
    }

    void AddBlock(uint32_t rank, Program program)
    {
        if (!program.primitives.empty())
        {
            m_wiring.AddBlock(rank, 0, std::move(program));
        }
    }

    /** Adds the connection of a part. */
    void Connect(uint32_t index)
    {
        const PeerCall::Part& part = m_call.Parts()[index];
        const PartEnds& ends = m_ends[index];
        const Connection path = PathOf(m_in, m_call.MessageOf(part), part.channel, part.part);
        Chunking chunking = PipelineChunking(m_in.protocol, m_in.settings.simpleBuffer);
        if (path.kind == ConnectionKind::Network)
        {
            chunking.slots = m_networkSlots;
        }
        const Time latency = m_call.IsCopy(part)
                                 ? Time()
                                 : HopLatency(m_in, Algorithm::Ring, path, m_call.SliceOf(part));
        m_wiring.Join(ends.sender, ends.receiver, MakeConnection(path, chunking, latency));
    }

    const AlgorithmInputs& m_in;
    const PeerCall& m_call;
    std::vector<PartEnds>& m_ends; //!< by part
    uint32_t m_networkSlots;
    ChannelSchedule m_channel;
    ScheduleWiring m_wiring;
    Loop m_loop;
    std::map<int64_t, int32_t> m_classes; //!< by chunk size
};

} // namespace

CallDescription
DescribePointToPoint(const AlgorithmInputs& in)
{
    const PeerCall call(in);
    const uint32_t slots = std::clamp(SHARED_SLOTS / call.PartsAtOnce(), 1U, NCCL_STEPS);
    std::vector<std::vector<uint32_t>> byChannel(call.ChannelCount());
    for (const uint32_t part : call.ByRound())
    {
        byChannel[call.Parts()[part].channel].push_back(part);
    }
    std::vector<PartEnds> ends(call.Parts().size());
    CallDescription description;
    description.call = EmptySchedule(in, Algorithm::PointToPoint);
    description.call.channelCap = call.PartCap();
    for (uint32_t channel = 0; channel < byChannel.size(); ++channel)
    {
        if (!byChannel[channel].empty())
        {
            description.Add(channel,
                            ChannelWriter(in, call, ends, slots).Write(byChannel[channel]),
                            in.routing);
        }
    }
    return description;
}

} // namespace weir
