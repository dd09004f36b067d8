// SPDX-License-Identifier: GPL-2.0-only
#include "collectives/algorithms/imported/imported-order.h"

#include <algorithm>

namespace weir
{

ImportedOrder::ImportedOrder(const ImportedProgram& program,
                             const std::vector<uint32_t>& firstBlock)
{
    std::size_t blocks = 0;
    for (std::size_t rank = 0; rank < program.ranks.size(); rank++)
    {
        blocks += program.ranks[rank].blocks.size();
        for (const ImportedBlock& block : program.ranks[rank].blocks)
        {
            for (const ImportedStep& step : block.steps)
            {
                if (step.block >= 0)
                {
                    const uint32_t other = firstBlock[rank] + static_cast<uint32_t>(step.block);
                    m_kept[{other, step.after}];
                }
            }
        }
    }
    m_clocks.assign(blocks, Clock(blocks, 0));
}

void
ImportedOrder::Await(uint32_t block, const Clock& clock)
{
    Clock& own = m_clocks[block];
    for (std::size_t i = 0; i < own.size(); i++)
    {
        own[i] = std::max(own[i], clock[i]);
    }
}

void
ImportedOrder::AwaitStep(uint32_t block, const Place& earlier)
{
    Await(block, m_kept.at({earlier.block, earlier.step}));
}

ImportedOrder::Clock
ImportedOrder::Told(const Place& step) const
{
    Clock clock = m_clocks[step.block];
    clock[step.block] = step.step + 1;
    return clock;
}

void
ImportedOrder::Finish(const Place& step)
{
    m_clocks[step.block][step.block] = step.step + 1;
    const auto kept = m_kept.find({step.block, step.step});
    if (kept != m_kept.end())
    {
        kept->second = m_clocks[step.block];
    }
}

bool
ImportedOrder::IsBefore(const Place& earlier, uint32_t block) const
{
    return earlier.block == block || m_clocks[block][earlier.block] > earlier.step;
}

std::optional<ImportedOrder::Place>
ImportedOrder::Read(const ChunkData& chunk, const Place& step)
{
    Uses& uses = m_uses[&chunk];
    if (uses.write && !IsBefore(*uses.write, step.block))
    {
        return uses.write;
    }
    uses.reads.push_back(step);
    return std::nullopt;
}

std::optional<ImportedOrder::Place>
ImportedOrder::Write(const ChunkData& chunk, const Place& step)
{
    Uses& uses = m_uses[&chunk];
    if (uses.write && !IsBefore(*uses.write, step.block))
    {
        return uses.write;
    }
    for (const Place& read : uses.reads)
    {
        if (!IsBefore(read, step.block))
        {
            return read;
        }
    }
    uses.write = step;
    uses.reads.clear();
    return std::nullopt;
}

} // namespace weir
