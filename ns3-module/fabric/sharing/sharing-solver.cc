// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/sharing/sharing-solver.h"

#include <numeric>

namespace weir
{

void
SharingSolver::Solve()
{
    m_allVariables.clear();
    m_allLinks.clear();
    if (!m_local)
    {
        m_grouped->Solve();
    }
    else if (!m_local->Solve())
    {
        HandOver();
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

/** Goes on with MaxMin, under the same indices. */
void
SharingSolver::HandOver()
{
    m_grouped = std::make_unique<maxmin::MaxMin>(std::vector<double>(m_local->LinkCount()));
    m_grouped->KeepLoads(m_keepsLoads);
    m_grouped->TakeOver(*m_local);
    m_grouped->Solve();
    m_allVariables.resize(m_local->VariableCount());
    std::iota(m_allVariables.begin(), m_allVariables.end(), 0U);
    m_allLinks.resize(m_local->LinkCount());
    std::iota(m_allLinks.begin(), m_allLinks.end(), 0U);
    m_local.reset();
}

} // namespace weir
