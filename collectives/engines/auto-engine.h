// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H

#include "collectives/engines/call-classes.h"
#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "fabric/slot-pool.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace weir
{

/** Judges the error of shortcuts relative to fidelity `flow`. */
class ShortcutJudge
{
  public:
    virtual ~ShortcutJudge() = default;

    /** Whether @p shortcut predicts the time of an uncontended call of @p plan well enough. */
    virtual bool IsGoodEnough(const CollectivePlan& plan, Fidelity shortcut) const = 0;

    /** Tolerated relative error of a call's time. */
    virtual double GetTolerance() const = 0;
};

/** Why a call runs in its fidelity. */
enum class FidelityReason : uint8_t
{
    WithinTolerance, //!< the error bound of a shortcut meets the tolerance
    Bound,           //!< no shortcut's error bound does
    Contention       //!< other calls may share its links, which the error bounds do not cover
};

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

/** The number of calls with equal properties, and the choice made for them. */
struct FidelityUse
{
    CollectiveOp op{CollectiveOp::AllReduce};
    Algorithm algorithm{Algorithm::Ring};
    std::size_t ranks{0};
    FidelityChoice choice;
    uint64_t calls{0};
};

/**
 * Runs each call in the cheapest fidelity whose error is known well enough. A call in a class
 * (ExpectConcurrent) that nothing slows, neither calls of its own class nor classes that may be
 * active at the same time, runs in `analytical` or else `stream`. A call that other classes may
 * slow runs in `stream` only while none of them is active, so that a class which begins
 * meanwhile sees its load; from then on its time is uncertain. A ledger adds up this uncertain time
 * for each set of classes that contend directly or through others. Such a call runs in `stream`
 * only if the uncertain time of its ledger plus its own duration is at most the tolerance times the
 * time so far.
 *
 * All other calls run in `flow`, and so do all calls when links change during a run. Long calls
 * that may be contended are thus flows, which share links with each other.
 *
 * O(contending classes) per call besides the engine that runs it.
 */
class AutoEngine : public CollectiveEngine, private CollectiveClient
{
  public:
    /**
     * Returns the engine of a fidelity. Engines must outlive this one and are advanced by their
     * owner.
     */
    using EngineOf = std::function<CollectiveEngine&(Fidelity)>;

    /** @p planner and @p judge must outlive it. */
    AutoEngine(Planner& planner, const ShortcutJudge& judge, EngineOf engineOf);

    /** From now on all calls run in `flow`: the load on links is not what plans assume. */
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

    void ExpectConcurrent(const CallClass& callClass) override
    {
        m_classes.Add(callClass);
    }

    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;
    Time NextEventTime() override;
    void AdvanceTo(Time now) override;

    /** The fidelity of the call whose client is being told that it has ended. */
    Fidelity GetEndedFidelity() const
    {
        return m_endedFidelity;
    }

    /** Numbers of calls so far, by operation, algorithm, ranks and choice. */
    std::vector<FidelityUse> Uses() const;

  private:
    /** A plan and the choices made for it. */
    struct Known
    {
        const CollectivePlan* plan;
        uint32_t callClass;
        FidelityChoice clear; //!< while no class that it contends with is active
        std::map<FidelityChoice, uint64_t> calls{};
    };

    /** A call in progress. */
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

    Planner& m_planner;
    const ShortcutJudge& m_judge;
    EngineOf m_engineOf;
    PlanLookup m_plans;
    CallClasses m_classes;
    std::unordered_map<const CollectivePlan*, std::size_t> m_index; //!< index into m_known
    std::vector<Known> m_known;                                     //!< in order of first use
    SlotPool<std::vector<Running>> m_running; //!< by the token given to the engines
    std::vector<uint32_t> m_inProgress;       //!< by class: number of calls in progress
    std::vector<uint32_t> m_ledger;           //!< by class: that of its contending classes
    std::vector<Time> m_unsure;  //!< by ledger: time of streams that contending calls have joined
    std::vector<Time> m_atStake; //!< by class: duration of a stream still uncontended
    std::optional<Time> m_begin; //!< of the first call
    Fidelity m_endedFidelity{Fidelity::Flow};
    bool m_hasOtherLoad{false};
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_AUTO_ENGINE_H
