// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H
#define WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H

#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Lists of numbers, stored contiguously. */
class NumberLists
{
  public:
    /** @param of by number: its list; lists keep numbers in ascending order */
    NumberLists(const std::vector<uint32_t>& of, std::size_t lists);

    const uint32_t* begin(uint32_t list) const
    {
        return m_numbers.data() + m_first[list];
    }

    const uint32_t* end(uint32_t list) const
    {
        return m_numbers.data() + m_first[list + 1];
    }

    uint32_t Count(uint32_t list) const
    {
        return m_first[list + 1] - m_first[list];
    }

    std::size_t Lists() const
    {
        return m_first.size() - 1;
    }

  private:
    std::vector<uint32_t>
        m_first; //!< by list: index of its first number; then the end of the last list
    std::vector<uint32_t> m_numbers;
};

/**
 * Equivalence classes of ranks and groups. An *actor* represents ranks that do the same at the same
 * time, and executes for all of them. A *group class* (`groupClass` in identifiers) represents the
 * groups in which the same actors communicate in the same manner.
 *
 * The classes are refined until they are stable (color refinement). Ranks are distinguished by
 * program and compute scale at first, then by the classes of the groups in their slots. Groups are
 * distinguished by their kind and by the classes and slots of their members. If communication takes
 * the same time in all groups of a kind, ranks of one actor are in the same state at all times, by
 * induction over the events of a step: their kernels start at the same time and take equally long,
 * and a communication starts at its last arrival, which is the latest over the same actors in all
 * groups of a group class.
 */
struct RankFold
{
    /** Every rank is an actor of its own. */
    explicit RankFold(const StepGraph& graph);

    /**
     * Ranks in equivalence classes. Complexity O(rounds x (sum of group sizes + ranks x slots));
     * rounds are at most the classes found.
     * @param scale by rank: factor on compute durations; empty: all equal
     * @param groupKinds by group: a call takes the same time in groups of one kind, whatever else
     *        is running
     */
    RankFold(const StepGraph& graph,
             const std::vector<double>& scale,
             const std::vector<uint32_t>& groupKinds);

    std::size_t Actors() const
    {
        return program.size();
    }

    std::vector<uint32_t> actorOf;            //!< by rank
    NumberLists ranks;                        //!< by actor
    std::vector<uint32_t> program;            //!< by actor: index into StepGraph::programs
    std::vector<std::vector<uint32_t>> slots; //!< by actor, then slot: its group class, or NO_GROUP
    NumberLists groups;                       //!< by group class
    std::vector<uint32_t>
        arrivals; //!< by group class: number of arrivals that complete a rendezvous

  private:
    struct Classes;
    RankFold(const StepGraph& graph, const Classes& classes);
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H
