// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H

#include "collectives/engines/call-classes.h"
#include "collectives/engines/call-slots.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Says how far shortcuts may be from `flow`. */
class ShortcutJudge
{
  public:
    virtual ~ShortcutJudge() = default;

    /** Whether the time of a call of @p plan, uncontended, is known well enough in @p shortcut. */
    virtual bool IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const = 0;

    /** How far the time of a call may be off, relative. */
    virtual double GetTolerance() const = 0;
};

/** Why a call runs in the fidelity that it runs in. */
enum class FidelityReason : uint8_t
{
    WithinTolerance, //!< its bound meets the tolerance
    Bound,           //!< no shortcut's bound does
    Contention       //!< other calls may be on its links, of which the bounds say nothing
};

constexpr FidelityReason LAST_FIDELITY_REASON = FidelityReason::Contention;

/** "within tolerance", "bound", "contention". */
const char* ToString(FidelityReason reason);

/** The fidelity of a call. */
struct FidelityChoice
{
    Fidelity fidelity{Fidelity::Flow};
    FidelityReason reason{FidelityReason::Contention};

    friend bool operator<(const FidelityChoice& a, const FidelityChoice& b)
    {
        return a.fidelity != b.fidelity ? a.fidelity < b.fidelity : a.reason < b.reason;
    }
};

/** Calls alike and how they were run. */
struct FidelityUse
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Algorithm algorithm{Algorithm::Ring};
    std::size_t ranks{0};
    FidelityChoice choice;
    uint64_t calls{0};
};

/**
 * Runs each call in the cheapest fidelity whose error is known well enough. Calls in classes
 * (ExpectConcurrent) that are slowed by nothing, neither by others of their class nor by classes
 * that may be under way beside them, are `analytical` or else `stream`. A call that others may slow
 * is `stream` while none of those is under way, so that one that begins meanwhile sees its load;
 * then its time is unsure. A ledger keeps what is: such a call is `stream` only if the unsure time
 * of all classes that meet, its own with it, is the tolerance's part at most of the time so far.
 *
 * All others run in `flow`, and so does everything when links change during a run. Long calls that
 * may be contended are thus flows, which see one another.
 *
 * O(classes met) per call beside the engine that runs it.
 */
class AutoEngine : public CollectiveEngine, private CollectiveClient
{
  public:
    /** The engine of a fidelity, which must outlive this one and is advanced by whoever owns it. */
    using EngineOf = std::function<CollectiveEngine&(Fidelity)>;

    /** @p planner and @p judge must outlive it. */
    AutoEngine(Planner& planner, const ShortcutJudge& judge, EngineOf engineOf);

    /** From now on all calls run in `flow`: what links carry is not what plans expect. */
    void ExpectOtherLoad()
    {
        m_hasOtherLoad = true;
    }

    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;

    bool WantsClasses() const override
    {
        return true;
    }

    void ExpectConcurrent(const CallClass& callClass) override;
    std::size_t Active() const override;
    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;
    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

    /** Of the call whose client is being told that it has ended. */
    Fidelity GetEndedFidelity() const
    {
        return m_endedFidelity;
    }

    /** Calls so far, by operation, algorithm, ranks and choice. */
    std::vector<FidelityUse> Uses() const;

  private:
    /** What is known of a plan. */
    struct Known
    {
        const CollectivePlan* plan;
        uint32_t callClass;
        FidelityChoice clear; //!< while no class that it meets is under way
        std::map<FidelityChoice, uint64_t> calls{};
    };

    /** A call under way. */
    struct Running
    {
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint32_t callClass{CallClasses::NONE};
        Fidelity fidelity{Fidelity::Flow};
    };

    void OnCollectiveDone(uint64_t token, Time now) override;
    FidelityChoice ChooseClear(const CollectivePlan& plan, uint32_t callClass);
    FidelityChoice Choose(const Known& known, Time now);
    Known& Remember(const CollectivePlan& plan);
    void Settle();
    void Begin(uint32_t callClass, FidelityChoice choice, Time duration);
    void End(uint32_t callClass);

    Planner& m_planner;
    const ShortcutJudge& m_judge;
    EngineOf m_engineOf;
    PlanLookup m_plans;
    CallClasses m_classes;
    std::unordered_map<const CollectivePlan*, std::size_t> m_index; //!< into m_known
    std::vector<Known> m_known;                                     //!< by order of first use
    CallSlots<Running> m_running;                                   //!< by the engines' token
    std::vector<uint32_t> m_underWay;                               //!< calls by class
    std::vector<uint32_t> m_ledger; //!< by class: of all that meet, directly or through others
    std::vector<Time> m_unsure;     //!< by ledger: time of streams that others joined
    std::vector<Time> m_atStake;    //!< by class: time of a stream that nobody has joined yet
    std::optional<Time> m_begin;    //!< of the first call
    Fidelity m_endedFidelity{Fidelity::Flow};
    bool m_hasOtherLoad{false};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H
