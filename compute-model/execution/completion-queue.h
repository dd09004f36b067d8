// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_COMPLETION_QUEUE_H
#define WEIR_COMPUTE_MODEL_EXECUTION_COMPLETION_QUEUE_H

#include "fabric/transport/fluid/instant-queue.h"
#include "fabric/units.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Which computation finishes when. Ranks in lock-step finish together, so what is due at one
 * instant shares an entry: O(1) each, and those of one instant come in the order they were begun.
 */
class CompletionQueue
{
  public:
    /** @param keys how many different keys there are. */
    explicit CompletionQueue(std::size_t keys)
        : m_nodes(keys),
          m_queue(Items{&m_nodes})
    {
    }

    CompletionQueue(const CompletionQueue&) = delete;
    CompletionQueue& operator=(const CompletionQueue&) = delete;

    /** @p key, which is not under way, finishes at @p when. */
    void Push(Time when, uint32_t key)
    {
        m_queue.Insert(key, when);
    }

    /** @p key, which is under way, finishes at @p when instead. */
    void Move(Time when, uint32_t key)
    {
        m_queue.Remove(key);
        m_queue.Insert(key, when);
    }

    /** When the first finishes; Time::Infinite() when nobody is under way. */
    Time NextTime() const
    {
        return m_queue.FirstTime();
    }

    /** Takes the first out. @return its key. */
    uint32_t Pop()
    {
        return m_queue.PopFirst();
    }

  private:
    struct Items
    {
        InstantNode& Node(uint32_t key)
        {
            return (*nodes)[key];
        }

        std::vector<InstantNode>* nodes;
    };

    std::vector<InstantNode> m_nodes; //!< by key
    InstantQueue<Items> m_queue;
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_COMPLETION_QUEUE_H
