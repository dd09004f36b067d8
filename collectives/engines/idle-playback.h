// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H
#define WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H

#include "collectives/planner.h"
#include "collectives/schedule/folded-schedule.h"
#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <optional>

namespace weir
{

/**
 * Times of a schedule on an idle fabric, whatever the order of its primitives: FlowEngine plays the
 * schedule, folded where possible (FoldSchedule). The loops of all channels must repeat equally
 * often. Times exclude the start latency; they are infinite where a link has no rate.
 */
class IdlePlayback
{
  public:
    /**
     * @param ranks of the call; blocks of larger ranks are switches
     * @param planner of the cluster, which must outlive it
     */
    IdlePlayback(const Schedule& schedule, uint32_t ranks, Planner& planner);

    /**
     * Time of all passes. Passes are played until the second half of them has the same period as
     * the first half, to one part in a thousand; the remaining passes take that period each.
     *
     * @param calls average number of concurrent copies of the call on its links, itself included:
     *        divides the links' rates
     */
    Time Duration(double calls = 1) const;

    /**
     * As Duration, for passes that fill a pipeline of @p levels levels, whose hops may share any
     * links. @p levels passes are played, then twice as many, and more until their period is
     * steady; fewer where all played slices would exceed 2^19. The remaining passes take the last
     * period each, but at least the time of their bytes on the slowest link.
     *
     * @param wire time of all bytes on the slowest link, those of the other calls included
     * @param calls as above
     * @return nothing where the limit of slices allows no period to be measured
     */
    std::optional<Time> DurationByFirstPasses(uint32_t levels, Time wire, double calls = 1) const;

    /** Latency paid once, before the first primitive of every block. */
    Time StartLatency() const
    {
        return m_folded.schedule.startLatency;
    }

  private:
    FoldedSchedule m_folded;
    Planner& m_planner;
    uint32_t m_repeats; //!< number of passes of the longest loop
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H
