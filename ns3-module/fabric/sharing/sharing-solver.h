// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_SHARING_SOLVER_H
#define WEIR_FABRIC_SHARING_SOLVER_H

#include "fabric/sharing/local-max-min.h"
#include "fabric/sharing/max-min.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace weir
{

/**
 * Max-min fair sharing by whichever solver does better: LocalMaxMin as long as few flows meet on
 * full links, from then on MaxMin. Both give the one answer that there is.
 */
class SharingSolver
{
  public:
    static constexpr uint32_t NONE = 0xffffffff;
    using Member = maxmin::Member;

    explicit SharingSolver(const std::vector<double>& capacities)
        : m_local(std::make_unique<LocalMaxMin>(capacities))
    {
    }

    /** As the functions of this name of MaxMin. */
    uint32_t Add(PathTable::Span path, double cap)
    {
        return m_local ? m_local->Add(path, cap) : m_lines->Add(path, cap);
    }

    void Remove(uint32_t variable)
    {
        m_local ? m_local->Remove(variable) : m_lines->Remove(variable);
    }

    void SetWeight(uint32_t variable, double weight)
    {
        m_local ? m_local->SetWeight(variable, weight) : m_lines->SetWeight(variable, weight);
    }

    void SetCapacity(uint32_t link, double capacity)
    {
        m_local ? m_local->SetCapacity(link, capacity) : m_lines->SetCapacity(link, capacity);
    }

    bool NeedsSolve() const
    {
        return m_local ? m_local->NeedsSolve() : m_lines->NeedsSolve();
    }

    void Solve();

    double Level(uint32_t variable) const
    {
        return m_local ? m_local->Level(variable) : m_lines->Level(variable);
    }

    /** Whether any variable has a Bottleneck: while few meet, each has a level of its own. */
    bool HasGroups() const
    {
        return !m_local;
    }

    uint32_t Bottleneck(uint32_t variable) const
    {
        return m_local ? NONE : m_lines->Bottleneck(variable);
    }

    bool IsAttached(uint32_t variable) const
    {
        return m_local ? m_local->IsAttached(variable) : m_lines->IsAttached(variable);
    }

    bool IsAlone(uint32_t variable) const
    {
        return m_local ? m_local->IsAlone(variable) : m_lines->IsAlone(variable);
    }

    double LinkLevel(uint32_t link) const
    {
        return m_local ? std::numeric_limits<double>::infinity() : m_lines->LinkLevel(link);
    }

    double Capacity(uint32_t link) const
    {
        return m_local ? m_local->Capacity(link) : m_lines->Capacity(link);
    }

    double SharedLoad(uint32_t link) const
    {
        return m_local ? m_local->SharedLoad(link) : m_lines->SharedLoad(link);
    }

    bool IsSlack(uint32_t link) const
    {
        return !m_local && m_lines->IsSlack(link);
    }

    uint32_t AloneOn(uint32_t link) const
    {
        return m_local ? m_local->AloneOn(link) : m_lines->AloneOn(link);
    }

    uint32_t Multiplicity(const Member& member) const
    {
        return m_local ? m_local->Multiplicity(member) : m_lines->Multiplicity(member);
    }

    const std::vector<Member>& Members(uint32_t link) const
    {
        return m_local ? m_local->Members(link) : m_lines->Members(link);
    }

    void KeepLoads(bool keep);

    const std::vector<uint32_t>& MovedVariables() const
    {
        return !m_allVariables.empty() ? m_allVariables
               : m_local               ? m_local->MovedVariables()
                                       : m_lines->MovedVariables();
    }

    const std::vector<uint32_t>& TouchedLinks() const
    {
        return !m_allVariables.empty() ? m_allLinks
               : m_local               ? m_local->TouchedLinks()
                                       : m_lines->TouchedLinks();
    }

  private:
    void HandOver();

    std::unique_ptr<LocalMaxMin> m_local; //!< at first
    std::unique_ptr<MaxMin> m_lines;      //!< later, if need be
    bool m_keepsLoads{false};
    std::vector<uint32_t> m_allVariables; //!< after the Solve that hands over; else empty
    std::vector<uint32_t> m_allLinks;     //!< likewise
};

} // namespace weir

#endif // WEIR_FABRIC_SHARING_SOLVER_H
