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

/** Whoever started a collective and is told when it is done. */
class CollectiveClient
{
  public:
    virtual ~CollectiveClient() = default;

    /** The collective has ended on all its ranks, at @p now. May start others. */
    virtual void OnCollectiveDone(uint64_t token, Time now) = 0;
};

/** Keeps when the collective it waits for ended. */
class EndTime : public CollectiveClient
{
  public:
    void OnCollectiveDone(uint64_t /* token */, Time now) override
    {
        m_end = now;
    }

    /** Infinite before. */
    Time Get() const
    {
        return m_end;
    }

  private:
    Time m_end{Time::Infinite()};
};

/** Whose collective a flow belongs to: what the engine was given when it started. */
struct FlowOrigin
{
    const CollectiveClient* client{nullptr};
    uint64_t token{0};
};

/** Calls that are made at the same time and take as long alone. */
struct CallClass
{
    std::vector<CollectiveCall> calls;
    std::vector<uint32_t> streams; //!< ascending; of two classes with a stream in common (of
                                   //!< some GPUs) only one is under way at a time
};

/**
 * Runs collectives in simulated time, at one fidelity. Start is the moment the last rank has
 * arrived; the end is common to all ranks. Which ranks have arrived is the caller's concern.
 *
 * Implementations: AnalyticalEngine (one closed-form duration), StreamEngine (one fluid flow per
 * channel), FlowEngine (every chunk of every step).
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
     * Whether calls are timed class by class (ExpectConcurrent), not each for itself: then calls of
     * one class that begin at one time end at one time, and one of them may be made for all.
     */
    virtual bool TimesByClass() const
    {
        return false;
    }

    /** Whether it is of use to tell what is made at the same time (ExpectConcurrent). */
    virtual bool WantsClasses() const
    {
        return TimesByClass();
    }

    /**
     * Tells an engine that wants classes what is made at the same time. Other engines see for
     * themselves.
     */
    virtual void ExpectConcurrent(const CallClass& callClass)
    {
    }

    /** Collectives under way. */
    virtual std::size_t Active() const = 0;

    /**
     * For which collective the flow of @p request moves, which has not been reported as done;
     * nothing where the engine did not start it. O(1).
     */
    virtual std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const
    {
        return std::nullopt;
    }
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H
