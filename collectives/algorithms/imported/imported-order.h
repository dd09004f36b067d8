// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_ORDER_H
#define WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_ORDER_H

#include "collectives/algorithms/imported/imported-buffers.h"
#include "collectives/algorithms/imported/imported-program.h"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir
{

/**
 * Finds accesses to one chunk that nothing orders: two steps of different blocks, one of which
 * writes, that no chain of steps of one block, dependencies and messages leads from one to the
 * other. Vector clocks (Fidge 1988, Mattern 1989): every block knows how many steps of every other
 * are done for certain. Messages order by their arrival only: a sender that waits for a free slot
 * may not, with more slots.
 *
 * O(blocks) memory for a block, a message on its way and a step that others depend on; O(blocks)
 * time for a step.
 */
class ImportedOrder
{
  public:
    using Clock = std::vector<uint32_t>; //!< by block, numbered through all ranks

    /** A step, by its block's number through all ranks. */
    struct Place
    {
        uint32_t block;
        uint32_t step;
    };

    /** @param firstBlock by rank. */
    ImportedOrder(const ImportedProgram& program, const std::vector<uint32_t>& firstBlock);

    /** @p block goes on after what @p clock knows: that of a message. */
    void Await(uint32_t block, const Clock& clock);

    /** It goes on after a step of another block of its rank. */
    void AwaitStep(uint32_t block, const Place& earlier);

    /** What a message of @p block tells: all that is before it, its own step at hand included. */
    Clock Told(const Place& step) const;

    /** Call when a step has done its work. */
    void Finish(const Place& step);

    /** @return the earlier write that nothing orders before this read, if there is one. */
    std::optional<Place> Read(const ChunkData& chunk, const Place& step);

    /** @return the earlier read or write that nothing orders before this write, if there is one. */
    std::optional<Place> Write(const ChunkData& chunk, const Place& step);

  private:
    /** Who has used a chunk since it was last written, and who wrote it. */
    struct Uses
    {
        std::optional<Place> write;
        std::vector<Place> reads;
    };

    bool IsBefore(const Place& earlier, uint32_t block) const;

    std::vector<Clock> m_clocks;                           //!< by block
    std::map<std::pair<uint32_t, uint32_t>, Clock> m_kept; //!< of steps others depend on
    std::unordered_map<const ChunkData*, Uses> m_uses;     //!< looked up only, never walked
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ALGORITHMS_IMPORTED_ORDER_H
