// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/sharing-solver.h"

namespace weir
{

void
SharingSolver::Solve()
{
    if (!m_local)
    {
        m_grouped->Solve();
    }
    else if (!m_local->Solve())
    {
        m_grouped = std::make_unique<maxmin::MaxMin>(*m_local);
        m_grouped->KeepLoads(m_keepsLoads);
        m_local.reset();
    }
}

void
SharingSolver::KeepLoads(bool keep)
{
    m_keepsLoads = keep;
    if (m_grouped)
    {
        m_grouped->KeepLoads(keep); // the other knows no bounds
    }
}

} // namespace weir
