// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H

#include "collectives/collective.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/transport/transport.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace weir
{

/** The caller of a collective, which is told when it is done. */
class CollectiveClient
{
  public:
    virtual ~CollectiveClient() = default;

    /** The collective has ended on all its ranks, at @p now. May start others. */
    virtual void OnCollectiveDone(uint64_t token, Time now) = 0;
};

/** Stores the end of the collective that it waits for. */
class EndTime : public CollectiveClient
{
  public:
    void OnCollectiveDone(uint64_t /* token */, Time now) override
    {
        m_end = now;
    }

    /** Infinite before the end. */
    Time Get() const
    {
        return m_end;
    }

  private:
    Time m_end{Time::Infinite()};
};

/** The collective that a flow belongs to: client and token given to the engine at its start. */
struct FlowOrigin
{
    const CollectiveClient* client{nullptr};
    uint64_t token{0};
};

/** Calls that are made at the same time and have equal uncontended durations. */
struct CallClass
{
    std::vector<CollectiveCall> calls;
    std::vector<uint32_t> streams; //!< CUDA streams, ascending; of two classes with a stream of
                                   //!< some GPUs in common only one is active at a time
};

/**
 * Runs collectives in simulated time, at one fidelity. A collective starts when its last rank has
 * arrived and ends on all ranks at the same time. The caller tracks which ranks have arrived.
 *
 * Implementations: AnalyticalEngine (one closed-form duration), StreamEngine (one fluid flow per
 * channel), FlowEngine (every chunk of every step), AutoEngine (a fidelity for each call).
 */
class CollectiveEngine : public PassiveEngine
{
  public:
    /**
     * Begins @p call at @p now.
     * @throws std::invalid_argument when the communicator is unknown, bytes are negative, or the
     *         overrides cannot be met.
     */
    virtual void Start(const CollectiveCall& call,
                       CollectiveClient* client,
                       uint64_t token,
                       Time now) = 0;

    /**
     * Whether calls are timed class by class (ExpectConcurrent), not individually. Then calls of
     * one class that begin at the same time end at the same time, and one of them may represent
     * all.
     */
    virtual bool TimesByClass() const
    {
        return false;
    }

    /** Whether the engine uses the classes of concurrent calls (ExpectConcurrent). */
    virtual bool WantsClasses() const
    {
        return TimesByClass();
    }

    /**
     * Tells an engine that wants classes which calls are made at the same time. Other engines see
     * concurrent calls when they start.
     */
    virtual void ExpectConcurrent(const CallClass& callClass)
    {
    }

    /**
     * The collective that the flow of @p request, not yet reported as done, belongs to; nothing
     * where the engine did not start it. O(1).
     */
    virtual std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const
    {
        return std::nullopt;
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H
