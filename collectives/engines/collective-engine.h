// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H

#include "collectives/collective.h"
#include "fabric/passive-engine.h"

#include <cstdint>

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
     * Whether every call takes the time of its plan, whatever else is under way: then who asks for
     * the same calls at the same times gets the same answers, and one may ask for all.
     */
    virtual bool TakesPlannedTimes() const
    {
        return false;
    }

    /**
     * Tells an engine that takes planned times that @p call takes @p duration: others like it are
     * made at the same time. Other engines see for themselves.
     */
    virtual void Expect(const CollectiveCall& call, Time duration)
    {
    }

    /** Collectives under way. */
    virtual std::size_t Active() const = 0;
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_COLLECTIVE_ENGINE_H
