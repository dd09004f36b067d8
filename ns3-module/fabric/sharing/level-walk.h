// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_LEVEL_WALK_H
#define WEIR_FABRIC_SHARING_LEVEL_WALK_H

#include "fabric/sharing/bottleneck-groups.h"
#include "fabric/sharing/level-sweep.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::maxmin
{

/**
 * A sweep that, after changes that reach most links, visits all links in the order of their levels,
 * repeatedly until no level changes.
 *
 * In such a change, as in an all-to-all, most levels move very little and their order stays. The
 * walk assumes this: it moves each group to the level at which its link saturates, adds the effect
 * to the loads of all other links, and checks those only when it visits them. If a link does pass
 * another, one of the two has members frozen above its own level; the walk detects this when it
 * visits the link, which then takes these members over. The sweep does the same in another order.
 * At the end all links saturate at their levels and no member of a link is above its level, which
 * holds for the unique solution only. Links that are not regular are left to the sweep in between.
 */
class LevelWalk : public LevelSweep
{
  public:
    using LevelSweep::LevelSweep;

    /** Sets how many links a solve must touch at least before it may walk. */
    void SetMinLinks(std::size_t links)
    {
        m_minLinks = links;
    }

    void BeginSolve()
    {
        m_mayRun = true;
    }

    /** Whether the changes have reached so many links that a walk is cheaper than the sweep. */
    bool Pays() const
    {
        return m_mayRun && (m_hasSpreadBefore || HasSpread());
    }

    /**
     * Walks until no level changes. After MAX_ROUNDS rounds it opens all groups and leaves them to
     * the sweep.
     */
    void Run();

    /** Records whether this solve reached many links, as a prediction for the next one. */
    void EndSolve()
    {
        m_hasSpreadBefore = m_mayRun && HasSpread();
    }

  private:
    bool HasSpread() const;
    void OpenAll();
    bool RunOnce();
    void VisitApart();
    bool IsOff(uint32_t link) const;
    bool Visit(uint32_t link);
    bool FindSaturation(uint32_t link, Saturation& at);
    void TakeOver(uint32_t link, double level);

    std::size_t m_minLinks{48};
    bool m_mayRun{true};                //!< in this solve
    bool m_hasSpreadBefore{false};      //!< in the last solve
    std::vector<HigherMember> m_higher; //!< scratch of Visit
};

} // namespace weir::maxmin

#endif // WEIR_FABRIC_SHARING_LEVEL_WALK_H
