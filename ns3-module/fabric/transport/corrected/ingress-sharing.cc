// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/corrected/ingress-sharing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir
{

namespace
{

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

/**
 * Max-min sharing of one rate among demands: each gets its demand, up to a common level
 * (water-filling).
 */
class WaterLevel
{
  public:
    /** Resets to a rate without demands. */
    void Begin(double rate)
    {
        m_rate = rate;
        m_demands.clear();
    }

    void Add(double demand)
    {
        m_demands.push_back(demand);
    }

    /** Computes the level, after the last Add. O(n log n) */
    void Solve()
    {
        std::sort(m_demands.begin(), m_demands.end());
        m_sums.assign(1, 0);
        for (const double demand : m_demands)
        {
            m_sums.push_back(m_sums.back() + demand);
        }
        m_level = LevelWithout(m_demands.size(), 0);
    }

    /** The common level; infinite if all demands are met. */
    double Level() const
    {
        return m_level;
    }

    /** What one of the demands would get if it were unbounded. O(log n) */
    double UnboundedShare(double demand) const
    {
        if (demand >= m_level)
        {
            return m_level;
        }
        const auto at = std::lower_bound(m_demands.begin(), m_demands.end(), demand);
        return LevelWithout(static_cast<std::size_t>(at - m_demands.begin()), 1);
    }

  private:
    /**
     * The level without the demand at index @p without, and with @p greedy additional unbounded
     * demands. Demands below the level are met; their number is found by bisection.
     */
    double LevelWithout(std::size_t without, std::size_t greedy) const
    {
        const std::size_t count = m_demands.size() - (without < m_demands.size() ? 1 : 0);
        const auto demandAt = [&](std::size_t i) { return m_demands[i < without ? i : i + 1]; };
        const auto sumBefore = [&](std::size_t i) {
            return i <= without || without == m_demands.size() ? m_sums[i]
                                                               : m_sums[i + 1] - m_demands[without];
        };
        std::size_t low = 0; // number of demands known to be met
        std::size_t high = count;
        while (low < high)
        {
            const std::size_t middle = (low + high) / 2;
            const double above = static_cast<double>(count - middle + greedy);
            if (sumBefore(middle) + demandAt(middle) * above <= m_rate)
            {
                low = middle + 1;
            }
            else
            {
                high = middle;
            }
        }
        const std::size_t above = count - low + greedy;
        return above == 0 ? UNBOUNDED
                          : std::max(0.0, m_rate - sumBefore(low)) / static_cast<double>(above);
    }

    double m_rate{0};
    double m_level{UNBOUNDED};
    std::vector<double> m_demands;
    std::vector<double> m_sums; //!< sum of the i smallest demands
};

/**
 * Computes RatesByIngress by sweeps: forward, the arrivals at each port; backward, the rate that
 * each port lets through.
 */
class IngressSolver
{
  public:
    IngressSolver(const std::vector<const IngressFlow*>& flows,
                  const std::vector<double>& linkRates)
        : m_flows(flows)
    {
        for (const IngressFlow* flow : flows)
        {
            m_begins.push_back(static_cast<uint32_t>(m_passed.size()));
            m_passed.resize(m_passed.size() + flow->path.size());
        }
        BuildPorts(linkRates);
    }

    /** @param isBlocking whether a held-back link holds back all its flows */
    std::vector<double> Solve(bool isBlocking)
    {
        Begin(isBlocking);
        constexpr unsigned MAX_SWEEPS = 64;
        constexpr double SETTLED = 1e-3; // of the line rate: a smaller change is none
        constexpr unsigned QUIET = 3;    // sweeps: one moves an effect by one port only
        std::vector<double> rates = Rates();
        unsigned quiet = 0;
        for (unsigned sweep = 0; sweep < MAX_SWEEPS && quiet < QUIET; sweep++)
        {
            for (Port& port : m_ports)
            {
                Share(port);
            }
            m_isBlocking ? HoldBackLinks() : HoldBackFlows();
            const std::vector<double> last = std::exchange(rates, Rates());
            double change = 0;
            for (std::size_t f = 0; f < rates.size(); f++)
            {
                change = std::max(change, std::abs(rates[f] - last[f]) / m_flows[f]->line);
            }
            quiet = change < SETTLED ? quiet + 1 : 0;
        }
        return rates;
    }

  private:
    static constexpr uint32_t NONE = 0xffffffff;

    /** Resets the state: nothing is held back. */
    void Begin(bool isBlocking)
    {
        m_isBlocking = isBlocking;
        m_allowed.assign(m_passed.size(), UNBOUNDED);
        for (std::size_t f = 0; f < m_flows.size(); f++)
        {
            std::fill_n(m_passed.begin() + m_begins[f], m_flows[f]->path.size(), m_flows[f]->line);
        }
        for (Port& port : m_ports)
        {
            port.limit = port.rate;
        }
    }

    /** A flow at a port. */
    struct Entry
    {
        uint32_t flow;
        uint32_t hop; //!< index into m_passed
    };

    /** A link that leads to a port, or a flow that starts at the port. */
    struct Ingress
    {
        uint32_t port{NONE}; //!< port of that link; NONE: a flow that starts here
        std::vector<Entry> entries;
        double demand{0};  //!< arrival rate, bytes/s
        double maxRate{0}; //!< highest rate that the port could let through, bytes/s
    };

    struct Port
    {
        double rate{0};
        double limit{0}; //!< part of the rate that held-back links can use
        double sent{0};
        std::vector<Ingress> ingresses;
    };

    void BuildPorts(const std::vector<double>& linkRates)
    {
        // Ports are ordered after the ports by which their flows arrive, as far as such an order
        // exists, so that few sweeps suffice.
        std::map<uint32_t, std::size_t> hops; // by link: its last hop index in any path
        for (const IngressFlow* flow : m_flows)
        {
            for (std::size_t hop = 0; hop < flow->path.size(); hop++)
            {
                std::size_t& last = hops[flow->path[hop].Index()];
                last = std::max(last, hop);
            }
        }
        std::vector<std::pair<std::size_t, uint32_t>> order;
        for (const auto& [link, hop] : hops)
        {
            order.emplace_back(hop, link);
        }
        std::sort(order.begin(), order.end());
        std::map<uint32_t, uint32_t> portOfLink;
        for (const auto& [hop, link] : order)
        {
            portOfLink.emplace(link, static_cast<uint32_t>(m_ports.size()));
            m_ports.emplace_back();
            m_ports.back().rate = linkRates[link];
        }
        std::map<std::pair<uint32_t, uint32_t>, std::size_t> ingresses; // by port and previous port
        for (uint32_t f = 0; f < m_flows.size(); f++)
        {
            uint32_t before = NONE;
            for (uint32_t hop = 0; hop < m_flows[f]->path.size(); hop++)
            {
                const uint32_t port = portOfLink.at(m_flows[f]->path[hop].Index());
                std::vector<Ingress>& here = m_ports[port].ingresses;
                std::size_t at = here.size();
                if (before != NONE)
                {
                    at = ingresses.emplace(std::pair(port, before), at).first->second;
                }
                if (at == here.size())
                {
                    here.emplace_back();
                    here.back().port = before;
                }
                here[at].entries.push_back({f, m_begins[f] + hop});
                before = port;
            }
        }
    }

    /** Arrival rate of a flow at a port. */
    double DemandOf(const Entry& entry) const
    {
        const IngressFlow& flow = *m_flows[entry.flow];
        const std::size_t begin = m_begins[entry.flow];
        const std::size_t end = begin + flow.path.size();
        const double comes = entry.hop == begin ? flow.line : m_passed[entry.hop - 1];
        return entry.hop + 1 < end ? std::min(comes, m_allowed[entry.hop + 1]) : comes;
    }

    /** Divides a port's rate among its ingresses. */
    void Share(Port& port)
    {
        WaterLevel& level = m_ofPort;
        level.Begin(port.limit);
        for (Ingress& each : port.ingresses)
        {
            each.demand = 0;
            for (const Entry& entry : each.entries)
            {
                m_passed[entry.hop] = DemandOf(entry);
                each.demand += m_passed[entry.hop];
            }
            level.Add(each.demand);
        }
        level.Solve();
        port.sent = 0;
        for (Ingress& each : port.ingresses)
        {
            each.maxRate = level.UnboundedShare(each.demand);
            if (!m_isBlocking)
            {
                Allow(each);
            }
            const double part = each.demand > level.Level() ? level.Level() / each.demand : 1;
            for (const Entry& entry : each.entries)
            {
                m_passed[entry.hop] *= part;
                port.sent += m_passed[entry.hop];
            }
        }
    }

    /** Computes the rate that a port could let through for each flow of an ingress. */
    void Allow(const Ingress& ingress)
    {
        WaterLevel& level = m_ofIngress;
        level.Begin(ingress.maxRate);
        for (const Entry& entry : ingress.entries)
        {
            level.Add(m_passed[entry.hop]);
        }
        level.Solve();
        for (const Entry& entry : ingress.entries)
        {
            double& allowed = m_allowed[entry.hop];
            const double maxRate = level.UnboundedShare(m_passed[entry.hop]);
            allowed = std::isfinite(allowed) ? (allowed + maxRate) / 2 : maxRate; // damped
        }
    }

    /** Caps each flow by the lowest rate that any port of its path would let through. */
    void HoldBackFlows()
    {
        for (std::size_t f = 0; f < m_flows.size(); f++)
        {
            const std::size_t begin = m_begins[f];
            for (std::size_t hop = begin + m_flows[f]->path.size(); hop-- > begin + 1;)
            {
                m_allowed[hop - 1] = std::min(m_allowed[hop - 1], m_allowed[hop]);
            }
        }
    }

    /**
     * Caps each link so that its flows to each next port arrive at no more than that port lets
     * through.
     */
    void HoldBackLinks()
    {
        std::vector<double> limits;
        for (const Port& port : m_ports)
        {
            limits.push_back(port.rate);
        }
        for (const Port& port : m_ports)
        {
            for (const Ingress& each : port.ingresses)
            {
                if (each.port != NONE && each.demand > 0)
                {
                    double& limit = limits[each.port];
                    limit = std::min(limit, each.maxRate * m_ports[each.port].sent / each.demand);
                }
            }
        }
        for (std::size_t i = 0; i < m_ports.size(); i++)
        {
            m_ports[i].limit = (m_ports[i].limit + limits[i]) / 2; // damped, lest it oscillate
        }
    }

    std::vector<double> Rates() const
    {
        std::vector<double> rates;
        for (std::size_t f = 0; f < m_flows.size(); f++)
        {
            double rate = m_flows[f]->line;
            for (std::size_t hop = 0; hop < m_flows[f]->path.size(); hop++)
            {
                rate = std::min(rate, m_passed[m_begins[f] + hop]);
            }
            rates.push_back(rate);
        }
        return rates;
    }

    const std::vector<const IngressFlow*>& m_flows;
    bool m_isBlocking{false};
    WaterLevel m_ofPort;    //!< member, to reuse its memory
    WaterLevel m_ofIngress; //!< similarly
    std::vector<Port> m_ports;
    std::vector<uint32_t> m_begins; //!< by flow: index of its first hop
    std::vector<double> m_passed;   //!< by hop: rate of the flow that the port lets through,
                                    //!< bytes/s
    std::vector<double> m_allowed;  //!< by hop: rate that this port and those behind it could let
                                    //!< through, bytes/s
};

} // namespace

std::vector<double>
RatesByIngress(const std::vector<const IngressFlow*>& flows,
               const std::vector<double>& linkRates,
               double blocking)
{
    IngressSolver solver(flows, linkRates);
    std::vector<double> rates(flows.size(), 0);
    for (const bool isBlocking : {false, true})
    {
        const double part = isBlocking ? blocking : 1 - blocking;
        if (part > 0)
        {
            const std::vector<double> then = solver.Solve(isBlocking);
            for (std::size_t f = 0; f < rates.size(); f++)
            {
                rates[f] += part * then[f];
            }
        }
    }
    return rates;
}

IngressRates::IngressRates(const IngressSharing& values, FluidTransport& fluid, std::size_t links)
    : m_values(values),
      m_fluid(fluid),
      m_rates(links)
{
}

void
IngressRates::Add(FlowId id, Time begin, IngressFlow flow)
{
    m_waiting.emplace(std::pair(begin, id.value), std::move(flow));
    m_begins.emplace(id.value, begin);
}

void
IngressRates::Remove(FlowId id, Time now)
{
    if (m_flows.erase(id.value) > 0)
    {
        m_changed = std::min(m_changed, now);
        return;
    }
    if (const auto begin = m_begins.find(id.value); begin != m_begins.end())
    {
        m_waiting.erase({begin->second, id.value});
        m_begins.erase(begin);
    }
}

void
IngressRates::SetPortRate(LinkId link, double rate, Time now)
{
    m_rates[link.Index()] = rate;
    if (!m_flows.empty())
    {
        m_changed = std::min(m_changed, now);
    }
}

Time
IngressRates::NextEventTime() const
{
    return m_waiting.empty() ? m_changed : std::min(m_changed, m_waiting.begin()->first.first);
}

void
IngressRates::AdvanceTo(Time now)
{
    while (!m_waiting.empty() && m_waiting.begin()->first.first <= now)
    {
        const auto first = m_waiting.begin();
        m_flows.emplace(first->first.second, Flow{std::move(first->second), UNBOUNDED});
        m_begins.erase(first->first.second);
        m_waiting.erase(first);
        m_changed = now;
    }
    if (m_changed > now)
    {
        return;
    }
    m_changed = Time::Infinite();
    std::vector<const IngressFlow*> flows;
    for (const auto& [id, flow] : m_flows)
    {
        flows.push_back(&flow.flow);
    }
    const std::vector<double> caps = RatesByIngress(flows, m_rates, m_values.blocking);
    constexpr double SAME = 1e-6; // relative change of a cap below which the fluid is not updated
    auto cap = caps.begin();
    for (auto& [id, flow] : m_flows)
    {
        // Where a link has no rate, the fluid stops the flow itself.
        if (*cap > 0 && std::abs(*cap - flow.cap) > SAME * *cap)
        {
            flow.cap = *cap;
            m_fluid.SetCap(FlowId{id}, Rate::BytesPerSecond(*cap), now);
        }
        ++cap;
    }
}

} // namespace weir
