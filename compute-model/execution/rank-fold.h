// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H
#define WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H

#include "compute-model/graph/step-program.h"

#include <cstdint>
#include <vector>

namespace weir
{

/** Some numbers for each of a row of things, stored end to end. */
class NumberLists
{
  public:
    /** @param of by number: the list it belongs to; lists keep numbers in ascending order. */
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
    std::vector<uint32_t> m_first; //!< by list, and one behind the last
    std::vector<uint32_t> m_numbers;
};

/**
 * Which ranks do the same at the same time, so that one *actor* can do it for all of them; and
 * which groups then meet for the same, at one *place*.
 *
 * Ranks are told apart until nothing tells them apart any more (color refinement): by program and
 * compute scale to begin with, then by the groups in their slots; groups by their kind and by who
 * meets there through which slot. Where communication takes the same time in all groups of a kind,
 * ranks of one actor are in the same state at all times, by induction over the events of a step: a
 * kernel of theirs begins and lasts alike, and a communication begins at its last arrival, which is
 * the latest over the same actors in all groups of a place.
 */
struct RankFold
{
    /** Every rank for itself. */
    explicit RankFold(const StepGraph& graph);

    /**
     * @param scale by rank: factor on compute durations; empty: all the same.
     * @param groupKinds by group: communication of one call takes the same time in groups of one
     *        kind, whatever else is under way.
     * O(rounds x (sum of group sizes + ranks x slots)); rounds are at most the classes found.
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
    std::vector<std::vector<uint32_t>> slots; //!< by actor, then slot: its place, or NO_GROUP
    NumberLists groups;                       //!< by place
    std::vector<uint32_t> arrivals;           //!< by place: how many make a rendezvous complete

  private:
    struct Classes;
    RankFold(const StepGraph& graph, const Classes& classes);
};

} // namespace weir

#endif // WEIR_COMPUTE_MODEL_EXECUTION_RANK_FOLD_H
