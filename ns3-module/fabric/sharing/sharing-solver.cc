// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/sharing-solver.h"

namespace weir
{

void
SharingSolver::Solve()
{
    if (m_grouped)
    {
        m_grouped->Solve();
    }
    else if (m_relaxed)
    {
        m_relaxed->Solve();
    }
    else if (m_local->Solve())
    {
        return;
    }
    else if (m_tolerance > 0)
    {
        m_relaxed = std::make_unique<maxmin::RelaxedMaxMin>(*m_local, m_tolerance);
        m_relaxed->KeepLoads(m_keepsLoads);
        m_local.reset();
    }
    else
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
        m_grouped->KeepLoads(keep); // LocalMaxMin always has exact loads
    }
    if (m_relaxed)
    {
        m_relaxed->KeepLoads(keep);
    }
}

} // namespace weir
