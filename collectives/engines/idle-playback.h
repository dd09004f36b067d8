// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H
#define WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H

#include "collectives/planner.h"
#include "collectives/schedule/folded-schedule.h"
#include "collectives/schedule/schedule.h"
#include "fabric/units.h"

#include <cstdint>
#include <limits>
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

    /** What is played. */
    struct Limits
    {
        uint32_t passes{32}; //!< those played first, for example the levels of a pipeline that they
                             //!< fill. Blocks that share links may drift apart over tens of passes
                             //!< until they share them better
        double slices{std::numeric_limits<double>::infinity()}; //!< maximum number, in all runs
        Time wire; //!< time of all bytes on the slowest link, those of the other calls included
    };

    /**
     * Time of all passes. The first passes are played, then twice as many, and more until the
     * second half of them has the same period as the first half, to one part in a thousand, or
     * further passes would exceed the limit of slices. The remaining passes take that period each,
     * but at least the time of their bytes on the slowest link.
     *
     * @param calls average number of concurrent copies of the call on its links, itself included:
     *        divides the links' rates
     * @return nothing where the limit of slices allows no period to be measured
     */
    std::optional<Time> Duration(double calls, const Limits& limits) const;

    /** As above, without a limit of slices. */
    Time Duration(double calls = 1) const
    {
        return *Duration(calls, Limits());
    }

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
