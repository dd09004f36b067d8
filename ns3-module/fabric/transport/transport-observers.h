// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_TRANSPORT_OBSERVERS_H
#define WEIR_FABRIC_TRANSPORT_TRANSPORT_OBSERVERS_H

#include "fabric/transport/transport.h"

#include <algorithm>
#include <vector>

namespace weir
{

/** Forwards events to all observers of a transport, in the order of their registration. */
class TransportObservers : public TransportObserver
{
  public:
    /** Adds an observer, or changes whether a registered one receives link rates. */
    void Add(TransportObserver& observer, bool linkRates)
    {
        if (std::find(m_all.begin(), m_all.end(), &observer) == m_all.end())
        {
            m_all.push_back(&observer);
        }
        Erase(m_ofRates, observer);
        if (linkRates)
        {
            m_ofRates.push_back(&observer);
        }
    }

    void Remove(TransportObserver& observer)
    {
        Erase(m_all, observer);
        Erase(m_ofRates, observer);
    }

    bool IsEmpty() const
    {
        return m_all.empty();
    }

    /** Whether any observer receives OnLinkRate, which costs a visit of every touched link. */
    bool WantLinkRates() const
    {
        return !m_ofRates.empty();
    }

    void OnFlowStarted(FlowId id, const FlowRequest& request, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++) // an observer may add another
        {
            m_all[i]->OnFlowStarted(id, request, now);
        }
    }

    void OnFlowFinished(FlowId id, const FlowRequest& request, Time started, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++)
        {
            m_all[i]->OnFlowFinished(id, request, started, now);
        }
    }

    void OnFlowStalled(FlowId id, const FlowRequest& request, bool isStalled, Time now) override
    {
        for (std::size_t i = 0; i < m_all.size(); i++)
        {
            m_all[i]->OnFlowStalled(id, request, isStalled, now);
        }
    }

    void OnLinkRate(LinkId link, Rate rate, Time now) override
    {
        for (std::size_t i = 0; i < m_ofRates.size(); i++)
        {
            m_ofRates[i]->OnLinkRate(link, rate, now);
        }
    }

  private:
    using List = std::vector<TransportObserver*>;

    static void Erase(List& list, TransportObserver& observer)
    {
        list.erase(std::remove(list.begin(), list.end(), &observer), list.end());
    }

    List m_all;
    List m_ofRates; //!< subset of m_all that receives link rates
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_TRANSPORT_OBSERVERS_H
