// SPDX-License-Identifier: GPL-2.0-only
#include "link-figures.h"

#include "weir-units.h"

#include "ns3/attribute.h"
#include "ns3/double.h"

namespace ns3
{

namespace
{

/** One of the figures of a link, as a value V of ns-3's. */
template <typename V, auto FIGURE>
class FigureAccessor : public AttributeAccessor
{
  public:
    /**
     * @param figuresOf where an object has the figures
     */
    explicit FigureAccessor(LinkFiguresOf figuresOf)
        : m_figuresOf(figuresOf)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        const auto* given = dynamic_cast<const V*>(&value);
        if (given != nullptr)
        {
            m_figuresOf(*object).*FIGURE = given->Get();
        }
        return given != nullptr;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        auto* wanted = dynamic_cast<V*>(&value);
        if (wanted != nullptr)
        {
            // Read only; the figures of a constant object are found as those of any other.
            wanted->Set(m_figuresOf(*const_cast<ObjectBase*>(object)).*FIGURE);
        }
        return wanted != nullptr;
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    LinkFiguresOf m_figuresOf; //!< where an object has them
};

} // namespace

void
LinkFigures::Read(const weir::LinkProfile& profile)
{
    rate = ToNs3(profile.rawRate);
    efficiency = profile.encoding * profile.framing * profile.measured;
    latency = ToNs3(profile.latency);
}

void
LinkFigures::Write(weir::LinkProfile& profile) const
{
    bool isChanged = false;
    if (rate != ToNs3(profile.rawRate))
    {
        profile.rawRate = ToWeir(rate);
        isChanged = true;
    }
    if (efficiency != profile.encoding * profile.framing * profile.measured)
    {
        profile.encoding = 1;
        profile.framing = efficiency;
        profile.measured = 1;
        isChanged = true;
    }
    if (latency != ToNs3(profile.latency))
    {
        profile.latency = ToWeir(latency);
        isChanged = true;
    }
    profile.source = isChanged ? "attributes of an ns-3 object" : profile.source;
}

TypeId
AddLinkAttributes(TypeId tid,
                  const std::string& name,
                  const std::string& link,
                  const LinkFigures& initial,
                  LinkFiguresOf figuresOf)
{
    using Rates = FigureAccessor<DataRateValue, &LinkFigures::rate>;
    using Efficiencies = FigureAccessor<DoubleValue, &LinkFigures::efficiency>;
    using Latencies = FigureAccessor<TimeValue, &LinkFigures::latency>;
    return tid
        .AddAttribute(name + "Rate",
                      "Raw rate of " + link + ": one direction (bits per second).",
                      DataRateValue(initial.rate),
                      Create<Rates>(figuresOf),
                      MakeDataRateChecker())
        .AddAttribute(name + "Efficiency",
                      "Part of the raw rate that carries payload (0 to 1), of " + link + ".",
                      DoubleValue(initial.efficiency),
                      Create<Efficiencies>(figuresOf),
                      MakeDoubleChecker<double>(MIN_EFFICIENCY, 1))
        .AddAttribute(name + "Latency",
                      "Propagation and the fixed delay at the receiving device, of " + link + ".",
                      TimeValue(initial.latency),
                      Create<Latencies>(figuresOf),
                      MakeTimeChecker(Time(0)));
}

} // namespace ns3
