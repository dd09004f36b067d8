// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traffic/traffic-pattern.h"

#include "scenarios/bound/random-draws.h"
#include "scenarios/yaml/input-error.h"
#include "scenarios/yaml/mapped.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <sstream>
#include <stdexcept>

namespace weir
{

namespace
{

using EndPoints = std::vector<TrafficEndPoint>;

constexpr double MAX_FLOWS = 1e8; // about 10 GB per run

[[noreturn]] void
Fail(const TrafficSpec& spec, const std::string& message)
{
    throw InputError((spec.where.empty() ? "traffic" : spec.where) + ": " + message);
}

/** @return whether flows leave the sender's node */
bool
HasSeveralNodes(const EndPoints& ends)
{
    return std::any_of(
        ends.begin(), ends.end(), [&](const auto& end) { return end.node != ends.front().node; });
}

/** Poisson: mean time between arrivals over all end points, in seconds. */
double
MeanGap(const TrafficSpec& spec, const EndPoints& ends)
{
    double sum = 0;
    for (const TrafficEndPoint& end : ends)
    {
        sum += end.rate.ToBytesPerSecond();
    }
    return spec.sizes.Mean() / (spec.load * sum);
}

/** Number of rounds of @p spec that begin within its duration. */
double
RoundCount(const TrafficSpec& spec)
{
    const double within = spec.every > Time() ? std::ceil(spec.duration / spec.every)
                                              : std::numeric_limits<double>::infinity();
    return std::min<double>(spec.times, within);
}

/** Random draws common to all patterns. */
class DrawnPattern : public TrafficPattern
{
  protected:
    DrawnPattern(const TrafficSpec& spec, const EndPoints& ends)
        : m_spec(spec),
          m_ends(ends),
          m_isBetweenNodes(HasSeveralNodes(ends)),
          m_draws(spec.seed, 0)
    {
    }

    bool MayReach(uint32_t source, uint32_t destination) const
    {
        return m_isBetweenNodes ? m_ends[source].node != m_ends[destination].node
                                : source != destination;
    }

    /** An exponentially distributed time with the given mean, in seconds. */
    double Exponential(double mean)
    {
        return -mean * std::log1p(-m_draws.Unit());
    }

    /**
     * A random permutation in which every end point may send to its image. Invalid images are
     * exchanged with random others until none is left.
     */
    std::vector<uint32_t> Permutation()
    {
        std::vector<uint32_t> to = m_draws.Shuffled(m_ends.size());
        for (bool isWrong = true; isWrong;)
        {
            isWrong = false;
            for (uint32_t end = 0; end < to.size(); end++)
            {
                if (!MayReach(end, to[end]))
                {
                    std::swap(to[end], to[m_draws.Below(to.size())]);
                    isWrong = true;
                }
            }
        }
        return to;
    }

    /**
     * @throws InputError when a node has more than half of all end points, so that no valid
     *         permutation exists.
     */
    void CheckPermutation() const
    {
        auto nodes = Mapped<uint32_t>(m_ends, &TrafficEndPoint::node);
        std::sort(nodes.begin(), nodes.end());
        std::size_t max = 0;
        for (auto at = nodes.begin(); at != nodes.end();)
        {
            const auto end = std::upper_bound(at, nodes.end(), *at);
            max = std::max<std::size_t>(max, end - at);
            at = end;
        }
        if (m_isBetweenNodes && 2 * max > nodes.size())
        {
            Fail(m_spec,
                 "found " + std::to_string(max) + " of " + std::to_string(nodes.size()) +
                     " end points on one node, expected at most half, so that all can send to "
                     "another node");
        }
    }

    Bytes Size()
    {
        return m_spec.sizes.Quantile(m_draws.Unit());
    }

    /** Whether a time after the start is beyond the duration. */
    bool IsOver(Time after) const
    {
        return after >= m_spec.duration;
    }

    TrafficSpec m_spec;
    EndPoints m_ends;
    bool m_isBetweenNodes;
    RandomDraws m_draws;
};

class PoissonPattern : public DrawnPattern
{
  public:
    PoissonPattern(const TrafficSpec& spec, const EndPoints& ends)
        : DrawnPattern(spec, ends)
    {
        double sum = 0;
        for (const TrafficEndPoint& end : ends)
        {
            sum += end.rate.ToBytesPerSecond();
            m_rates.push_back(sum);
        }
        m_gap = MeanGap(spec, ends);
    }

    std::optional<TrafficFlow> Next() override
    {
        m_at += Exponential(m_gap);
        if (IsOver(Time::Seconds(m_at)))
        {
            return {};
        }
        const double share = m_draws.Unit() * m_rates.back();
        const auto found = std::upper_bound(m_rates.begin(), m_rates.end(), share);
        const auto source = static_cast<uint32_t>(
            std::min<std::size_t>(found - m_rates.begin(), m_ends.size() - 1));
        uint32_t destination = source;
        while (!MayReach(source, destination))
        {
            destination = m_draws.Below(m_ends.size());
        }
        const Bytes bytes = Size();
        return TrafficFlow{source, destination, bytes, m_spec.start + Time::Seconds(m_at)};
    }

  private:
    std::vector<double> m_rates; //!< cumulative rates of the end points, bytes/s
    double m_gap;                //!< mean time between arrivals, seconds
    double m_at{0};              //!< last arrival, seconds after the start
};

/** Flows that start in rounds. */
class RoundPattern : public DrawnPattern
{
  public:
    using DrawnPattern::DrawnPattern;

    std::optional<TrafficFlow> Next() override
    {
        if (m_next == m_round.size())
        {
            const Time after = m_spec.every * static_cast<double>(m_rounds);
            if (m_rounds == m_spec.times || IsOver(after))
            {
                return {};
            }
            m_round.clear();
            m_next = 0;
            m_rounds++;
            Draw(m_round);
            for (TrafficFlow& flow : m_round)
            {
                flow.start = m_spec.start + after;
            }
        }
        return m_round[m_next++];
    }

  protected:
    /** Draws the flows of a round, at least one; their start times are set later. */
    virtual void Draw(std::vector<TrafficFlow>& round) = 0;

  private:
    std::vector<TrafficFlow> m_round;
    std::size_t m_next{0};
    uint64_t m_rounds{0};
};

class PermutationPattern : public RoundPattern
{
  public:
    PermutationPattern(const TrafficSpec& spec, const EndPoints& ends)
        : RoundPattern(spec, ends)
    {
        CheckPermutation();
    }

  protected:
    void Draw(std::vector<TrafficFlow>& round) override
    {
        const std::vector<uint32_t> to = Permutation();
        for (uint32_t end = 0; end < to.size(); end++)
        {
            round.push_back({end, to[end], Size(), Time()});
        }
    }
};

class IncastPattern : public RoundPattern
{
  public:
    IncastPattern(const TrafficSpec& spec, const EndPoints& ends)
        : RoundPattern(spec, ends)
    {
        for (uint32_t receiver = 0; receiver < ends.size(); receiver++)
        {
            std::size_t others = 0;
            for (uint32_t sender = 0; sender < ends.size(); sender++)
            {
                others += MayReach(sender, receiver) ? 1 : 0;
            }
            if (others < spec.senders)
            {
                Fail(spec,
                     "found " + std::to_string(spec.senders) + " senders, expected at most the " +
                         std::to_string(others) + " end points on other nodes than a receiver's");
            }
        }
    }

  protected:
    void Draw(std::vector<TrafficFlow>& round) override
    {
        const uint32_t receiver = m_draws.Below(m_ends.size());
        for (const uint32_t sender : m_draws.Shuffled(m_ends.size()))
        {
            if (round.size() < m_spec.senders && MayReach(sender, receiver))
            {
                round.push_back({sender, receiver, Size(), Time()});
            }
        }
    }
};

class AllToAllPattern : public RoundPattern
{
  public:
    AllToAllPattern(const TrafficSpec& spec, const EndPoints& ends)
        : RoundPattern(spec, ends)
    {
        constexpr uint64_t MAX_ROUND = uint64_t{1} << 24; // maximum number of flows in memory
        const uint64_t flows = uint64_t{ends.size()} * (ends.size() - 1);
        if (flows > MAX_ROUND)
        {
            Fail(spec,
                 "found " + std::to_string(ends.size()) + " end points, " + std::to_string(flows) +
                     " flows a round, expected at most " + std::to_string(MAX_ROUND));
        }
    }

  protected:
    void Draw(std::vector<TrafficFlow>& round) override
    {
        for (uint32_t source = 0; source < m_ends.size(); source++)
        {
            for (uint32_t other = 1; other < m_ends.size(); other++)
            {
                const auto destination = static_cast<uint32_t>((source + other) % m_ends.size());
                round.push_back({source, destination, Size(), Time()});
            }
        }
    }
};

class OnOffPattern : public DrawnPattern
{
  public:
    OnOffPattern(const TrafficSpec& spec, const EndPoints& ends)
        : DrawnPattern(spec, ends)
    {
        CheckPermutation();
        CheckRate();
        m_to = Permutation();
        for (uint32_t end = 0; end < ends.size(); end++)
        {
            m_begins.emplace(Time(), end);
        }
    }

    std::optional<TrafficFlow> Next() override
    {
        const auto [at, source] = m_begins.top();
        if (IsOver(at))
        {
            return {};
        }
        m_begins.pop();
        const Time on = Span(m_spec.on);
        m_begins.emplace(at + on + Span(m_spec.off), source);
        const Rate rate = std::min(m_spec.rate, m_ends[source].rate);
        const double bytes = std::max(1.0, std::round(rate.ToBytesPerSecond() * on.ToSeconds()));
        return TrafficFlow{
            source, m_to[source], Bytes(static_cast<int64_t>(bytes)), m_spec.start + at, rate};
    }

  private:
    /** @throws InputError when the requested rate exceeds that of an end point's links. */
    void CheckRate() const
    {
        const auto slowest =
            std::min_element(m_ends.begin(), m_ends.end(), [](const auto& a, const auto& b) {
                return a.rate < b.rate;
            });
        constexpr double ROUNDING = 1 + 1e-9;
        if (!m_spec.rate.IsInfinite() && m_spec.rate > slowest->rate * ROUNDING)
        {
            std::ostringstream text;
            text << "found a rate of " << m_spec.rate.ToBytesPerSecond() * 8e-9
                 << " Gb/s, expected at most the " << slowest->rate.ToBytesPerSecond() * 8e-9
                 << " Gb/s of the slowest end point's links, or no rate: each end point then uses "
                    "its own";
            Fail(m_spec, text.str());
        }
    }

    Time Span(Time mean)
    {
        return m_spec.isFixed ? mean : Time::Seconds(Exponential(mean.ToSeconds()));
    }

    using Begin = std::pair<Time, uint32_t>; //!< time after the start, end point

    std::vector<uint32_t> m_to;
    std::priority_queue<Begin, std::vector<Begin>, std::greater<>> m_begins;
};

/** Name of a kind of traffic, and its keys that other kinds lack. */
struct KindOfTraffic
{
    const char* name;
    std::vector<std::string> keys;
};

const KindOfTraffic&
TheKind(TrafficKind kind)
{
    static const std::vector<KindOfTraffic> kinds{
        {"poisson", {"sizes", "bytes", "load"}},
        {"permutation", {"sizes", "bytes", "every", "times"}},
        {"incast", {"sizes", "bytes", "senders", "every", "times"}},
        {"all-to-all", {"sizes", "bytes", "every", "times"}},
        {"on-off", {"on", "off", "spans", "rate"}}};
    return kinds.at(static_cast<std::size_t>(kind));
}

} // namespace

const char*
ToString(TrafficKind kind)
{
    return TheKind(kind).name;
}

bool
HasTrafficKey(TrafficKind kind, const std::string& key)
{
    const auto& keys = TheKind(kind).keys;
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::unique_ptr<TrafficPattern>
MakeTrafficPattern(const TrafficSpec& spec, const std::vector<TrafficEndPoint>& ends)
{
    if (ends.size() < 2)
    {
        Fail(spec, "found " + std::to_string(ends.size()) + " end points, expected at least 2");
    }
    switch (spec.kind)
    {
    case TrafficKind::Poisson:
        return std::make_unique<PoissonPattern>(spec, ends);
    case TrafficKind::Permutation:
        return std::make_unique<PermutationPattern>(spec, ends);
    case TrafficKind::Incast:
        return std::make_unique<IncastPattern>(spec, ends);
    case TrafficKind::AllToAll:
        return std::make_unique<AllToAllPattern>(spec, ends);
    case TrafficKind::OnOff:
        return std::make_unique<OnOffPattern>(spec, ends);
    }
    throw std::logic_error("MakeTrafficPattern: no such kind");
}

double
MeanFlowCount(const TrafficSpec& spec, const std::vector<TrafficEndPoint>& ends)
{
    const auto count = static_cast<double>(ends.size());
    switch (spec.kind)
    {
    case TrafficKind::Poisson:
        return spec.duration.ToSeconds() / MeanGap(spec, ends);
    case TrafficKind::Permutation:
        return RoundCount(spec) * count;
    case TrafficKind::Incast:
        return RoundCount(spec) * spec.senders;
    case TrafficKind::AllToAll:
        return RoundCount(spec) * count * (count - 1);
    case TrafficKind::OnOff:
        return (spec.duration / (spec.on + spec.off) + 1) * count;
    }
    throw std::logic_error("MeanFlowCount: no such kind");
}

void
CheckFlowCount(const TrafficSpec& spec, double flows)
{
    if (flows <= MAX_FLOWS)
    {
        return;
    }
    std::ostringstream text;
    text << "found " << flows << " flows, expected at most " << MAX_FLOWS << ": "
         << (HasTrafficKey(spec.kind, "times") ? "fewer rounds" : "fewer flows per second")
         << " or a shorter duration";
    Fail(spec, text.str());
}

} // namespace weir
