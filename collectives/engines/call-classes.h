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
 * By plan: its delay, compared with the uncontended call, when the legs of all @p plans begin at
 * once. Plans of equal uncontended duration get the largest delay among them, so that they stay
 * equal.
 *
 * A leg that ends leaves its share to the others (LegSharing). UncontendedRates is exact where no
 * plan is delayed, all legs end at the same time, or all plans and channels are equal.
 *
 * O(links of all legs) in those cases; otherwise times the number of distinct ends and of distinct
 * rates between two ends.
 */
std::vector<Time> ContentionDelays(const std::vector<const CollectivePlan*>& plans,
                                   Routing& routing);

/**
 * Calls that are made at the same time, grouped into classes, and the speeds of classes that are
 * active concurrently.
 *
 * A class stands for all of its calls at once, such as the data-parallel groups of all tensor ranks
 * of a stage. The speeds of concurrent classes follow from the rates of all their legs
 * (LegSharing), computed once for every set of classes that occurs.
 */
class CallClasses
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;

    /** @p planner must outlive it. */
    explicit CallClasses(Planner& planner);

    /**
     * Adds a class of calls with equal uncontended durations. A call that is already in a class
     * stays there.
     * @throws as Planner::Plan does.
     */
    void Add(const CallClass& callClass);

    /** The class of a plan's call, or NONE. */
    uint32_t ClassOf(const CollectivePlan& plan) const;

    std::size_t Count() const
    {
        return m_classes.size();
    }

    /**
     * Time of the bytes of its calls, after their latency, while no other class is active: that
     * of the call which the others of the class delay most (ContentionDelays).
     */
    Time TransferTime(uint32_t callClass) const
    {
        return m_classes[callClass].transfer;
    }

    /** Whether calls of the class delay each other on a shared link. */
    bool SlowsItself(uint32_t callClass) const
    {
        return m_classes[callClass].slowsItself;
    }

    /**
     * The classes that contend with a class when they are active at the same time: the two have
     * no stream in common, and both use a link that all classes would overload in total. The first
     * query after Add takes O(n log n) in the links of the legs of all calls.
     */
    const std::vector<uint32_t>& Met(uint32_t callClass);

    /**
     * Speeds of the classes @p concurrent, in ascending order, by index in it; 1: not
     * slowed by the others. The leg of a class that would end last at the present rates decides.
     * Memoized for every set; otherwise O(n log n) in the links of their legs.
     */
    const std::vector<double>& Speeds(const std::vector<uint32_t>& concurrent);

  private:
    struct Class
    {
        std::vector<const CollectivePlan*> plans;
        std::vector<uint32_t> streams;
        Time transfer;
        bool slowsItself{false};   //!< calls of it delay each other
        double slowest{0};         //!< seconds of its slowest leg while only its own legs run
        std::vector<uint32_t> met; //!< contending classes, ascending
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
