// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_GROUP_RENDEZVOUS_H
#define WEIR_COMPUTE_MODEL_EXECUTION_GROUP_RENDEZVOUS_H

#include "compute-model/execution/rank-fold.h"
#include "compute-model/graph/step-program.h"
#include "fabric/units.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** One pending communication of a group, and the actors that have arrived. */
struct Rendezvous
{
    const StepOp* op{nullptr}; //!< operation of the first rank to arrive
    Time firstArrival;
    Time started; //!< valid once all have arrived
    uint32_t groupClass{0};
    uint32_t firstArrived{0}; //!< index of the first key of the arrived
    uint32_t arrived{0};      //!< number of actors that have arrived
    uint32_t size{0};         //!< number of actors that must arrive
    uint64_t number{0}; //!< index of the collective in the run, from 0; valid once all have arrived
    bool ended{false};

    bool IsComplete() const
    {
        return arrived == size;
    }
};

/**
 * Rendezvous of actors for communications, each on behalf of all of its ranks. The k-th
 * communication that a rank issues on a group matches the k-th of every other member, as on one
 * NCCL communicator. Rendezvous objects are reused: nothing is allocated after the first step. O(1)
 * per arrival.
 */
class GroupRendezvous
{
  public:
    /** Both must outlive it. */
    GroupRendezvous(const StepGraph& graph, const RankFold& fold);

    /**
     * Actor @p actor arrives with @p op.
     * @param key of its stream, stored among the keys of the arrived
     * @return the rendezvous that it joins
     * @throws std::invalid_argument when others brought a different operation to this rendezvous.
     */
    uint32_t Arrive(uint32_t actor, uint32_t key, const StepOp& op, Time now);

    /** Ends the communication of @p rendezvous; the object is reused from the next Arrive on. */
    void End(uint32_t rendezvous);

    Rendezvous& Get(uint32_t rendezvous)
    {
        return m_rendezvous[rendezvous];
    }

    const Rendezvous& Get(uint32_t rendezvous) const
    {
        return m_rendezvous[rendezvous];
    }

    /** The key of the first actor that arrived. */
    uint32_t FirstKey(const Rendezvous& rendezvous) const
    {
        return m_arrived[rendezvous.firstArrived];
    }

    /** The key of the @p i -th actor that arrived. */
    uint32_t ArrivedKey(uint32_t rendezvous, uint32_t i) const
    {
        return m_arrived[m_rendezvous[rendezvous].firstArrived + i];
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /** One actor's use of one group class. */
    struct Slot
    {
        uint32_t groupClass{0};
        uint32_t issued{0}; //!< communications issued so far
    };

    struct GroupClass
    {
        uint32_t ended{0};            //!< number of rendezvous that have ended
        uint32_t current{NONE};       //!< the first rendezvous that has not ended
        std::vector<uint32_t> behind; //!< later rendezvous; only if ranks use several streams
        std::vector<uint32_t> free;   //!< rendezvous of this group class that can be reused
    };

    uint32_t NewRendezvous(uint32_t classIndex, const StepOp& op, Time now);
    [[noreturn]] void FailToMatch(uint32_t actor,
                                  const Rendezvous& rendezvous,
                                  const StepOp& op) const;

    const StepGraph& m_graph;
    const RankFold& m_fold;
    std::vector<uint32_t> m_firstSlot; //!< by actor: index of its first slot
    std::vector<Slot> m_slots;         //!< by actor and slot
    std::vector<GroupClass> m_classes;
    std::vector<Rendezvous> m_rendezvous;
    std::vector<uint32_t> m_arrived; //!< keys, a segment for each rendezvous
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_GROUP_RENDEZVOUS_H
