// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_CHANNELS_RING_ORDER_H
#define WEIR_COLLECTIVES_CHANNELS_RING_ORDER_H

#include "collectives/channels/node-capacity.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Whether an order of GPUs ends where it began. */
enum class Closing : uint8_t
{
    None,
    Any,
    NvLink, //!< over NVLink only
};

/** Over what an order of GPUs may go from one to the next. */
enum class Hops : uint8_t
{
    NvLink,
    NvLinkByGpu, //!< that, or NVLink relayed by a third GPU
    Any,
};

/**
 * Finds one order of a node's GPUs with room for another channel, and reserves its links: depth
 * first, in ring order, over direct links the least used first, within a budget of hops as NCCL's.
 */
class OrderSearch
{
  public:
    /** @param speed GB/s to reserve. @p node must outlive it. */
    OrderSearch(NodeCapacity& node, double speed, Hops hops);

    /**
     * From @p first through all GPUs to @p last (anywhere when equal and there are others), and
     * back to first if @p closing says so. @return whether it was found; then Order() has it.
     */
    bool Find(uint32_t first, uint32_t last, Closing closing);

    const std::vector<uint32_t>& Order() const
    {
        return m_order;
    }

  private:
    bool Extend();
    bool Close();
    bool Allows(uint32_t from, uint32_t to) const;
    std::vector<uint32_t> Candidates(uint32_t from) const;

    NodeCapacity& m_node;
    double m_speed;
    Hops m_hops;
    uint32_t m_last{0};
    Closing m_closing{Closing::None};
    uint32_t m_step{1};   //!< to the next GPU in ring order
    uint32_t m_budget{0}; //!< hops that may still be tried
    std::vector<uint32_t> m_order;
    std::vector<bool> m_visited;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_CHANNELS_RING_ORDER_H
