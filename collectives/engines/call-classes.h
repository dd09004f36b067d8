// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_CALL_CLASSES_H
#define WEIR_COLLECTIVES_ENGINES_CALL_CLASSES_H

#include "collectives/engines/collective-engine.h"
#include "collectives/planner.h"
#include "fabric/routing/routing.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace weir
{

/**
 * By plan: how much longer than alone it takes when the legs of all @p plans begin at once; of
 * plans that take as long alone, what the one that waits most does, so that they stay alike.
 *
 * One that ends leaves its share to the others (LegSharing). Where all legs end together, or all
 * plans and channels are alike, UncontendedRates has the answer.
 *
 * O(links of all legs) in those cases, else that times the different ends and the different rates
 * between two of them.
 */
std::vector<Time> ContentionDelays(const std::vector<const CollectivePlan*>& plans,
                                   Routing& routing);

/**
 * Calls that are made at the same time, as classes, and how fast one class goes beside others.
 *
 * A class stands for all of its calls at once: the data-parallel groups of all tensor ranks of a
 * stage, say. How fast classes are that are under way together follows from the rates of all their
 * legs (LegSharing), once for every set of classes that comes up.
 */
class CallClasses
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    /** @p planner must outlive it. */
    explicit CallClasses(Planner& planner);

    /**
     * The calls of another class; they take as long alone. A call that is in a class already stays
     * there. @throws as Planner::Plan does.
     */
    void Add(const CallClass& callClass);

    /** The class of a plan's call, or NONE. */
    uint32_t ClassOf(const CollectivePlan& plan) const;

    std::size_t Count() const
    {
        return m_classes.size();
    }

    /**
     * How long the bytes of its calls take, after their latency, when no other class is under way:
     * what the call that waits most for the others takes (ContentionDelays).
     */
    Time TransferTime(uint32_t callClass) const
    {
        return m_classes[callClass].transfer;
    }

    /** Whether calls of it wait for others of it, on a link that several use. */
    bool SlowsItself(uint32_t callClass) const
    {
        return m_classes[callClass].slowsItself;
    }

    /**
     * The classes that slow it down, or are slowed down by it, when they are under way at the same
     * time: they have no stream in common, and on some link that both use, what all classes would
     * put there does not fit. The first question after Add takes O(n log n) in the links of the
     * legs of all calls.
     */
    const std::vector<uint32_t>& Met(uint32_t callClass);

    /**
     * By position in @p together, classes in ascending order that are under way at once: how fast
     * each is, 1 where as fast as without the others. That is decided by the leg that would end
     * last at the present rates. Kept for every set; else O(n log n) in the links of their legs.
     */
    const std::vector<double>& Speeds(const std::vector<uint32_t>& together);

  private:
    struct Class
    {
        std::vector<const CollectivePlan*> plans;
        std::vector<uint32_t> streams;
        Time transfer;
        bool slowsItself{false};   //!< a call of it waits for others of it
        double slowest{0};         //!< seconds of its slowest leg when all of its own run
        std::vector<uint32_t> met; //!< ascending
    };

    void Settle();
    void NoteContention(const std::vector<std::vector<uint32_t>>& contenders);

    Planner& m_planner;
    std::vector<Class> m_classes;
    std::unordered_map<const CollectivePlan*, uint32_t> m_classOf;
    std::map<std::vector<uint32_t>, std::vector<double>> m_speeds;
    bool m_isSettled{true};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_CALL_CLASSES_H
