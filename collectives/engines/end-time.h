// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_END_TIME_H
#define WEIR_COLLECTIVES_ENGINES_END_TIME_H

#include "collectives/engines/collective-engine.h"

namespace weir
{

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

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_END_TIME_H
