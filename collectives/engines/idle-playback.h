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
 * How long the blocks of a schedule take on an idle fabric, whatever order its primitives have:
 * FlowEngine plays it, what is alike once (FoldAlike). Loops of several channels must repeat alike.
 * Times are without the start latency, and infinite where a link has no rate.
 */
class IdlePlayback
{
  public:
    /**
     * @param ranks of the call; blocks of further ones are of switches
     * @param planner of the cluster, which must outlive it
     */
    IdlePlayback(const Schedule& schedule, uint32_t ranks, Planner& planner);

    /**
     * Passes of a loop are played until twice as many have the same period (to a thousandth) as the
     * first half of them; those that are left take that period each.
     *
     * @param calls that share the links, those beside the call itself being averages
     */
    Time Duration(double calls = 1) const;

    /**
     * The same of passes that fill a pipeline of so many @p levels, whose hops may share links as
     * they will: twice as many passes are played, and more until their period is steady, or fewer
     * where all that is played would be more than half a million slices. Those that are left take
     * the last period each, at least what their bytes take the slowest link.
     *
     * @param wire what all bytes take the slowest link, those of other calls as well
     * @param calls as above
     * @return nothing where so few slices say nothing
     */
    std::optional<Time> DurationByFirstPasses(uint32_t levels, Time wire, double calls = 1) const;

    /** What is paid once, before the first primitive of every block. */
    Time StartLatency() const
    {
        return m_folded.schedule.startLatency;
    }

  private:
    FoldedSchedule m_folded;
    Planner& m_planner;
    uint32_t m_repeats; //!< passes of the longest loop
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_IDLE_PLAYBACK_H
