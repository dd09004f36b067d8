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

/** One communication of a group: who has arrived, and since when. */
struct Rendezvous
{
    const StepOp* op{nullptr}; //!< as the first rank to arrive has it
    Time firstArrival;
    Time started; //!< valid once all have arrived
    uint32_t place{0};
    uint32_t firstArrived{0}; //!< where the keys of the arrived begin
    uint32_t arrived{0};      //!< how many have
    uint32_t size{0};         //!< how many must
    uint64_t number{0};       //!< of the collective in the run, from 0; valid once all have arrived
    bool ended{false};

    bool IsComplete() const
    {
        return arrived == size;
    }
};

/**
 * Where actors meet for communications, each for all of its ranks. The k-th communication that a
 * rank issues on a group meets the k-th of every other member, as on one NCCL communicator.
 * Rendezvous are used again: nothing is allocated once a step has been seen. O(1) per arrival.
 */
class GroupRendezvous
{
  public:
    /** Both must outlive it. */
    GroupRendezvous(const StepGraph& graph, const RankFold& fold);

    /**
     * Actor @p actor arrives with @p op.
     * @param key of its stream, kept among the rendezvous's arrived.
     * @return the rendezvous it joins.
     * @throws std::invalid_argument when others brought another operation to this rendezvous.
     */
    uint32_t Arrive(uint32_t actor, uint32_t key, const StepOp& op, Time now);

    /** The communication of @p rendezvous is over; its place is used again from the next Arrive on.
     */
    void End(uint32_t rendezvous);

    Rendezvous& Get(uint32_t rendezvous)
    {
        return m_rendezvous[rendezvous];
    }

    const Rendezvous& Get(uint32_t rendezvous) const
    {
        return m_rendezvous[rendezvous];
    }

    /** The key of the first that arrived. */
    uint32_t FirstKey(const Rendezvous& rendezvous) const
    {
        return m_arrived[rendezvous.firstArrived];
    }

    /** The key of the @p i -th that arrived. */
    uint32_t ArrivedKey(uint32_t rendezvous, uint32_t i) const
    {
        return m_arrived[m_rendezvous[rendezvous].firstArrived + i];
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /** One actor's use of one place. */
    struct Slot
    {
        uint32_t place{0};
        uint32_t issued{0}; //!< communications issued so far
    };

    struct Place
    {
        uint32_t ended{0};            //!< how many rendezvous have ended
        uint32_t current{NONE};       //!< the first that has not
        std::vector<uint32_t> behind; //!< those after it; only if ranks use several streams
        std::vector<uint32_t> free;   //!< rendezvous of this place to be used again
    };

    uint32_t NewRendezvous(uint32_t place, const StepOp& op, Time now);
    [[noreturn]] void FailToMatch(uint32_t actor,
                                  const Rendezvous& rendezvous,
                                  const StepOp& op) const;

    const StepGraph& m_graph;
    const RankFold& m_fold;
    std::vector<uint32_t> m_firstSlot; //!< by actor: where its slots begin
    std::vector<Slot> m_slots;         //!< by actor and slot
    std::vector<Place> m_places;
    std::vector<Rendezvous> m_rendezvous;
    std::vector<uint32_t> m_arrived; //!< keys, a segment for each rendezvous
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_GROUP_RENDEZVOUS_H
