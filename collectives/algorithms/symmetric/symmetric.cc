// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/algorithm.h"
#include "collectives/algorithms/call-description.h"
#include "collectives/algorithms/nvls/nvls-heads.h"
#include "collectives/nccl/symmetric-kernels.h"
#include "collectives/schedule/schedule-wiring.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

/**
 * @file
 * NCCL's kernels on symmetric memory (2.27, sym_kernels.cc and device/symmetric): buffers that all
 * GPUs of an NVLink domain have registered as one window, so that each GPU loads from and stores to
 * the buffers of all others.
 *  - LL: every rank stores its data with flags to all ranks, which add what arrives. An all-reduce
 *    is an all-gather of whole buffers.
 *  - Simple: between two barriers of all ranks, a reduce-scatter loads the rank's part from all
 *    ranks and adds it, an all-gather stores the rank's part to all ranks, an all-reduce does both,
 *    piece by piece.
 *  - With multicast the NVSwitches reduce and multicast these accesses (see MulticastGroup); no
 *    data is copied before or after, and pieces are not synchronized.
 */
namespace weir
{

namespace
{

bool
SupportsSymmetric(CollectiveOp op, const Communicator& communicator)
{
    return communicator.nodes == 1 && communicator.Size() > 1 &&
           (op == CollectiveOp::AllReduce || op == CollectiveOp::AllGather ||
            op == CollectiveOp::ReduceScatter);
}

/** Whether each pair of GPUs is joined by NVLink, without a third GPU between them. */
bool
IsNvLinkDomain(const AlgorithmInputs& in)
{
    const auto& gpus = in.communicator.gpus;
    for (std::size_t from = 0; from < gpus.size(); ++from)
    {
        for (std::size_t to = from + 1; to < gpus.size(); ++to)
        {
            if (in.connector.InsideNode(gpus[from], gpus[to]).kind != ConnectionKind::NvLink)
            {
                return false;
            }
        }
    }
    return true;
}

SymmetricKernel
KernelOf(const AlgorithmInputs& in)
{
    const auto& overrides = in.call.overrides;
    return ChooseSymmetricKernel({in.constants,
                                  in.call.op,
                                  in.call.bytes,
                                  in.communicator.Size(),
                                  in.communicator.nvlsGraph.channels > 1,
                                  overrides.protocol,
                                  overrides.channels,
                                  in.settings.channelLimits});
}

/** Why release or wiring do not allow the kernels; empty: they do. */
std::string
RefusalOf(const AlgorithmInputs& in)
{
    if (!in.constants.Version().AtLeast(SYMMETRIC_SINCE))
    {
        return "with NCCL " + in.settings.version + ", expected 2.27 or later";
    }
    return IsNvLinkDomain(in) ? "" : "over GPUs without NVLink between each two, expected NVLink";
}

bool
IsPossible(const AlgorithmInputs& in)
{
    return RefusalOf(in).empty();
}

bool
IsPreferred(const AlgorithmInputs& in)
{
    const auto& filter = in.settings.filter;
    return in.settings.symmetricMemory && SupportsSymmetric(in.call.op, in.communicator) &&
           IsPossible(in) && filter.Allows(in.call.op, Algorithm::Symmetric) &&
           filter.GetProtocols().empty() && !in.call.overrides.protocol;
}

void
Choose(AlgorithmInputs& in)
{
    if (const std::string refusal = RefusalOf(in); !refusal.empty())
    {
        throw std::invalid_argument("found algorithm symmetric " + refusal);
    }
    const SymmetricKernel kernel = KernelOf(in);
    in.protocol = kernel.protocol;
    in.channels = kernel.blocks;
}

/** Wires a call of one kernel on a channel, that is, one of its thread blocks. */
class SymmetricWiring
{
  public:
    /** All must outlive it. */
    SymmetricWiring(const AlgorithmInputs& in,
                    const SymmetricKernel& kernel,
                    uint32_t chunks,
                    ChannelSchedule& channel)
        : m_in(in),
          m_wiring(channel),
          m_count(in.communicator.Size())
    {
        const Bytes payload = DivideUp(in.call.bytes, int64_t{chunks} * kernel.blocks);
        m_cap = Rate::BytesPerSecond(WireBytes(kernel.protocol, payload).ToDouble() /
                                     kernel.moving.ToSeconds());
    }

    /** Every rank stores its chunk to all others, which add or keep it. */
    void Spread(bool adds)
    {
        const std::vector<uint32_t> sending = AddRanks(PrimitiveKind::Send, 1, m_count - 1);
        JoinAll(sending, adds ? AddAdding() : AddKeeping());
    }

    /** Every rank loads its chunk from all others and adds it, and stores it to them. */
    void Collect(bool stores)
    {
        const std::vector<uint32_t> adding =
            stores ? AddRanks(PrimitiveKind::RecvReduceCopySend, m_count - 1, m_count - 1)
                   : AddAdding();
        for (uint32_t to = 0; to < m_count; ++to)
        {
            for (uint32_t k = 1; k < m_count; ++k)
            {
                const uint32_t from = (to + k) % m_count;
                const auto chunk = static_cast<int32_t>(m_count - k); // number "to", from here
                const uint32_t loaded =
                    m_wiring.AddBlock(from, from, EachChunk(PrimitiveKind::Send, {chunk}));
                m_wiring.Join(loaded, adding[to], Direct(from, to));
            }
        }
        if (stores)
        {
            JoinAll(adding, AddKeeping());
        }
    }

    /** As Spread and Collect, by the NVSwitches. */
    void Multicast(bool reduces, bool stores)
    {
        const MulticastGroup group(m_in.connector, m_in.routing, m_in.communicator.gpus);
        const auto accesses = [&](uint32_t head) { return BySwitch(group, head, reduces, stores); };
        AddHeads(m_wiring, m_count, m_count, reduces, stores, accesses, WithinDevice(m_in));
    }

    /** Every rank stores its buffer to all others by the NVSwitches; they add what arrives. */
    void MulticastAndAdd()
    {
        const MulticastGroup group(m_in.connector, m_in.routing, m_in.communicator.gpus);
        const std::vector<uint32_t> adding = AddAdding();
        for (uint32_t head = 0; head < m_count; ++head)
        {
            const uint32_t sending = m_wiring.AddBlock(head, 0, PrimitiveKind::Send, 1, 1);
            const uint32_t multicast =
                m_wiring.AddBlock(m_count, 0, PrimitiveKind::RecvCopySend, 1, m_count - 1);
            m_wiring.Join(sending, multicast, BySwitch(group, head, false, true));
            for (uint32_t k = 1; k < m_count; ++k)
            {
                m_wiring.Join(multicast, adding[(head + k) % m_count], WithinDevice(m_in));
            }
        }
    }

  private:
    /** A block for each rank, by rank, that does @p what of ScheduleWiring::AddBlock. */
    template <typename... What>
    std::vector<uint32_t> AddRanks(const What&... what)
    {
        std::vector<uint32_t> blocks;
        for (uint32_t rank = 0; rank < m_count; ++rank)
        {
            blocks.push_back(m_wiring.AddBlock(rank, rank, what...));
        }
        return blocks;
    }

    /** Blocks that add a chunk of each other rank to their own. */
    std::vector<uint32_t> AddAdding()
    {
        return AddRanks(PrimitiveKind::RecvReduceCopy, m_count - 1, 1);
    }

    /** Blocks that keep the chunks of all others. */
    std::vector<uint32_t> AddKeeping()
    {
        std::vector<int32_t> others(m_count - 1);
        std::iota(others.begin(), others.end(), 1);
        return AddRanks(EachChunk(PrimitiveKind::Recv, others));
    }

    /** Joins a block of each rank to one of each other rank, which is told of them in turn. */
    void JoinAll(const std::vector<uint32_t>& senders, const std::vector<uint32_t>& receivers)
    {
        for (uint32_t to = 0; to < m_count; ++to)
        {
            for (uint32_t k = 1; k < m_count; ++k)
            {
                const uint32_t from = (to + k) % m_count;
                m_wiring.Join(senders[from], receivers[to], Direct(from, to));
            }
        }
    }

    ScheduleConnection Direct(uint32_t from, uint32_t to) const
    {
        const auto& gpus = m_in.communicator.gpus;
        ScheduleConnection connection;
        connection.connection = m_in.connector.InsideNode(gpus[from], gpus[to]);
        connection.latency = m_in.routing.Latency(connection.connection.route);
        connection.cap = m_cap;
        return connection;
    }

    ScheduleConnection BySwitch(const MulticastGroup& group,
                                uint32_t head,
                                bool reduces,
                                bool stores) const
    {
        ScheduleConnection connection;
        connection.connection.route = m_in.routing.AddFixed(group.Accesses(head, reduces, stores));
        connection.latency = group.CrossingLatency();
        connection.wireFactor =
            MulticastWireFactor(m_in.connector.GetCluster(), m_in.times.Costs());
        connection.weight = connection.wireFactor / m_count;
        connection.cap = m_cap;
        return connection;
    }

    const AlgorithmInputs& m_in;
    ScheduleWiring m_wiring;
    uint32_t m_count;
    Rate m_cap; //!< of one block's chunk
};

/**
 * NCCL's latency, whose crossings of NVLink are those of the simulated fabric: one under LL; under
 * Simple one for each barrier besides those of the data.
 */
Time
StartLatency(const AlgorithmInputs& in, const SymmetricKernel& kernel, uint32_t stages)
{
    const uint32_t barriers = kernel.protocol == Protocol::Ll ? 0 : 2;
    const Time crossing = in.routing.Latency(
        in.connector.InsideNode(in.communicator.gpus[0], in.communicator.gpus[1]).route);
    const Time reference = ReferencePropagation(ConnectionKind::NvLink) * (stages + barriers);
    return std::max(kernel.latency - reference, Time()) + crossing * barriers;
}

CallDescription
DescribeSymmetric(const AlgorithmInputs& in)
{
    constexpr Bytes PIECE = Bytes::KiB(32); // 16 warps of 4 x 512 bytes
    const CollectiveOp op = in.call.op;
    const SymmetricKernel kernel = KernelOf(in);
    const bool isLl = kernel.protocol == Protocol::Ll;
    const bool spreadsAll = isLl && op == CollectiveOp::AllReduce;
    const bool isTwoStages = !isLl && !kernel.isMulticast && op == CollectiveOp::AllReduce;
    CallDescription description;
    description.call.op = op;
    description.call.algorithm = Algorithm::Symmetric;
    description.call.protocol = kernel.protocol;
    description.call.startLatency = StartLatency(in, kernel, isTwoStages ? 2 : 1);
    description.chunks = spreadsAll ? 1 : in.communicator.Size();
    description.subChannels = description.chunks;
    description.slices = 1;
    const Bytes share = DivideUp(in.call.bytes, int64_t{kernel.blocks} * description.chunks);
    description.chunk = isTwoStages ? PIECE : std::max(share, CHUNK_ALIGNMENT);
    ChannelSchedule channel;
    SymmetricWiring wiring(in, kernel, description.chunks, channel);
    if (spreadsAll && kernel.isMulticast)
    {
        wiring.MulticastAndAdd();
    }
    else if (kernel.isMulticast)
    {
        wiring.Multicast(op != CollectiveOp::AllGather, op != CollectiveOp::ReduceScatter);
    }
    else if (spreadsAll || op == CollectiveOp::AllGather)
    {
        wiring.Spread(spreadsAll);
    }
    else
    {
        wiring.Collect(isTwoStages);
    }
    description.AddAll(in.channels, std::move(channel));
    return description;
}

} // namespace

const CollectiveAlgorithm SYMMETRIC_ALGORITHM{
    Algorithm::Symmetric,
    SupportsSymmetric,
    [](const AlgorithmInputs&) { return MAX_SYMMETRIC_BLOCKS; },
    DescribeSymmetric,
    nullptr,
    ChannelGraph::None,
    false,
    Choose,
    IsPreferred,
    IsPossible,
};

} // namespace weir
