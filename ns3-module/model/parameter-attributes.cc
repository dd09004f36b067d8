// SPDX-License-Identifier: GPL-2.0-only
#include "parameter-attributes.h"

#include "link-figures.h"
#include "weir-units.h"

#include "fabric/kinds/fabric-dimension.h"
#include "fabric/parameters/parameter-visitor.h"
#include "ns3/abort.h"
#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace ns3
{

namespace
{

/**
 * The attribute of a parameter.
 * @param info the parameter
 * @return its key in PascalCase
 */
std::string
NameOf(const weir::ParameterInfo& info)
{
    std::string name = info.key;
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return name;
}

/**
 * A parameter's time as an attribute's.
 * @param time of the parameter
 * @return the same, Time::Max() for an infinite one
 */
Time
ToAttribute(weir::Time time)
{
    return time.IsInfinite() ? Time::Max() : ToNs3(time);
}

/**
 * What a link carries of its raw rate.
 * @param link the link
 * @return its payload part
 */
double
EfficiencyOf(const weir::LinkProfile& link)
{
    return link.encoding * link.framing * link.measured;
}

/**
 * Dimensions as text.
 * @param values the dimensions
 * @return their notation
 */
std::string
ToText(const std::vector<weir::FabricDimension>& values)
{
    std::string text;
    for (const weir::FabricDimension& value : values)
    {
        text += (text.empty() ? "" : " x ") + ToString(value);
    }
    return text;
}

/**
 * Dimensions from text. Ends the program when they are none.
 * @param name of the attribute
 * @param text their notation
 * @return the dimensions
 */
std::vector<weir::FabricDimension>
ParseText(const std::string& name, const std::string& text)
{
    try
    {
        return weir::ParseDimensions(text);
    }
    catch (const weir::DimensionTextError& error)
    {
        NS_ABORT_MSG(name << " is '" << text
                          << "', expected dimensions like Ring(4) x FullyConnected(8) x Switch(2)");
    }
}

/** Gives one attribute's value to the parameter that it is, or takes it from there. */
class AttributeTransfer : public weir::ParameterVisitor
{
  public:
    /**
     * Sets parameters.
     * @param name of the attribute
     * @param value what they become
     */
    AttributeTransfer(const std::string& name, const AttributeValue& value)
        : m_name(name),
          m_given(&value)
    {
    }

    /**
     * Reads a parameter.
     * @param name of the attribute
     * @param value becomes what it is
     */
    AttributeTransfer(const std::string& name, AttributeValue& value)
        : m_name(name),
          m_wanted(&value)
    {
    }

    /**
     * Whether there was such a parameter, and the value was of its type.
     * @return true if so
     */
    bool IsDone() const
    {
        return m_isDone;
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        std::visit([&, name = NameOf(info)](const auto& each) { Move(name, each); }, parameter);
    }

  private:
    /**
     * Moves a parameter's value, of any type that attributes have.
     * @param name of the parameter
     * @param number it
     */
    void Move(const std::string& name, const weir::NumberParameter& number)
    {
        Transfer<DoubleValue>(name, number.value);
    }

    void Move(const std::string& name, const weir::CountParameter& count)
    {
        Transfer<UintegerValue>(name, count.value);
    }

    void Move(const std::string& name, const weir::OptionalCountParameter& optional)
    {
        uint32_t count = optional.value.value_or(0); // which leaves it open
        if (Transfer<UintegerValue>(name, count))
        {
            optional.value = count > 0 ? std::optional<uint32_t>(count) : std::nullopt;
        }
    }

    void Move(const std::string& name, const weir::CountsParameter& counts)
    {
        std::string text;
        for (const uint32_t value : counts.value)
        {
            text += (text.empty() ? "" : "x") + std::to_string(value);
        }
        if (Transfer<StringValue>(name, text))
        {
            counts.value.clear();
            for (const weir::FabricDimension& each : ParseText(m_name, text))
            {
                counts.value.push_back(each.size);
            }
        }
    }

    void Move(const std::string& name, const weir::FlagParameter& flag)
    {
        Transfer<BooleanValue>(name, flag.value);
    }

    void Move(const std::string& name, const weir::DurationParameter& duration)
    {
        TransferTime(name, duration.value);
    }

    void Move(const std::string& name, const weir::SizeParameter& size)
    {
        int64_t bytes = size.value.Count();
        if (Transfer<UintegerValue>(name, bytes))
        {
            size.value = weir::Bytes(bytes);
        }
    }

    void Move(const std::string& name, const weir::DataRateParameter& rate)
    {
        TransferRate(name, rate.value);
    }

    void Move(const std::string& name, const weir::SeedParameter& seed)
    {
        Transfer<UintegerValue>(name, seed.value);
    }

    void Move(const std::string& name, const weir::TextParameter& text)
    {
        Transfer<StringValue>(name, text.value);
    }

    void Move(const std::string& name, const weir::ChoiceParameter& choice)
    {
        const auto& [index, names] = choice;
        std::string chosen = names[index];
        if (Transfer<StringValue>(name, chosen))
        {
            const auto found = std::find(names.begin(), names.end(), chosen);
            std::string expected;
            for (const std::string& each : names)
            {
                expected += (expected.empty() ? "" : ", ") + each;
            }
            NS_ABORT_MSG_IF(found == names.end(),
                            m_name << " is '" << chosen << "', expected one of: " << expected);
            index = static_cast<std::size_t>(found - names.begin());
        }
    }

    void Move(const std::string& name, const weir::LinkParameter& link)
    {
        weir::LinkProfile& profile = link.value;
        TransferRate(name + "Rate", profile.rawRate);
        TransferTime(name + "Latency", profile.latency);
        double efficiency = EfficiencyOf(profile);
        if (Transfer<DoubleValue>(name + "Efficiency", efficiency))
        {
            profile.encoding = 1;
            profile.framing = efficiency;
            profile.measured = 1;
        }
    }

    void Move(const std::string& name, const weir::DimensionsParameter& dimensions)
    {
        std::string text = ToText(dimensions.value);
        if (Transfer<StringValue>(name, text))
        {
            dimensions.value = ParseText(m_name, text);
        }
    }

    /** A selection, or a network that a file holds: no attribute. */
    template <typename P>
    void Move(const std::string&, const P&)
    {
    }

    /**
     * Moves a value between the attribute and a parameter, if they are the same one.
     * @tparam V the attribute's type
     * @param name of the parameter
     * @param value of the parameter
     * @return whether the parameter was set
     */
    template <typename V, typename T>
    bool Transfer(const std::string& name, T& value)
    {
        if (name != m_name)
        {
            return false;
        }
        if (m_given != nullptr)
        {
            const auto* given = dynamic_cast<const V*>(m_given);
            m_isDone = m_isDone || given != nullptr;
            value = given != nullptr ? static_cast<T>(given->Get()) : value;
            return given != nullptr;
        }
        auto* wanted = dynamic_cast<V*>(m_wanted);
        if (wanted != nullptr && !m_isDone) // the first component's
        {
            wanted->Set(value);
            m_isDone = true;
        }
        return false;
    }

    /**
     * As Transfer.
     * @param name of the parameter
     * @param value of the parameter
     */
    void TransferTime(const std::string& name, weir::Time& value)
    {
        Time time = name == m_name ? ToAttribute(value) : Time();
        if (Transfer<TimeValue>(name, time))
        {
            value = time == Time::Max() ? weir::Time::Infinite() : ToWeir(time);
        }
    }

    /**
     * As Transfer.
     * @param name of the parameter
     * @param value of the parameter
     */
    void TransferRate(const std::string& name, weir::Rate& value)
    {
        ns3::DataRate rate = name == m_name ? ToNs3(value) : ns3::DataRate();
        value = Transfer<DataRateValue>(name, rate) ? ToWeir(rate) : value;
    }

    const std::string& m_name;              //!< of the attribute
    const AttributeValue* m_given{nullptr}; //!< what parameters become
    AttributeValue* m_wanted{nullptr};      //!< becomes what the parameter is
    bool m_isDone{false};                   //!< whether there was one
};

/** An attribute that is a parameter of an object's components. */
class ParameterAccessor : public AttributeAccessor
{
  public:
    /**
     * @param name of the attribute
     * @param initial its value at first
     * @param checker of its values
     */
    ParameterAccessor(std::string name,
                      Ptr<const AttributeValue> initial,
                      Ptr<const AttributeChecker> checker)
        : m_name(std::move(name)),
          m_initial(std::move(initial)),
          m_checker(std::move(checker))
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* parameterized = dynamic_cast<ParameterizedObject*>(object);
        if (parameterized == nullptr)
        {
            return false;
        }
        if (!parameterized->IsConstructed() &&
            value.SerializeToString(m_checker) == m_initial->SerializeToString(m_checker))
        {
            return true; // components have defaults of their own
        }
        AttributeTransfer transfer(m_name, value);
        return Visit(*parameterized, transfer);
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto* parameterized = dynamic_cast<const ParameterizedObject*>(object);
        AttributeTransfer transfer(m_name, value);
        // Read only; the components of a constant object are found as those of any other.
        return parameterized != nullptr &&
               Visit(const_cast<ParameterizedObject&>(*parameterized), transfer);
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
    /**
     * Shows all components to a transfer.
     * @param object that has them
     * @param transfer what visits them
     * @return whether the transfer was done
     */
    static bool Visit(ParameterizedObject& object, AttributeTransfer& transfer)
    {
        for (weir::Parameterized* component : object.GetComponents())
        {
            component->VisitParameters(transfer);
        }
        return transfer.IsDone();
    }

    std::string m_name;                    //!< of the attribute
    Ptr<const AttributeValue> m_initial;   //!< its value at first
    Ptr<const AttributeChecker> m_checker; //!< of its values
};

/** Adds the attributes of components to a type ID. */
class AttributeList : public weir::ParameterVisitor
{
  public:
    /**
     * @param tid gets the attributes
     */
    explicit AttributeList(TypeId tid)
        : m_tid(tid)
    {
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        std::visit([&, name = NameOf(info)](const auto& each) { Add(name, info.help, each); },
                   parameter);
    }

  private:
    /**
     * Adds a parameter, of any type that attributes have.
     * @param name of the attribute
     * @param help what a user is told
     * @param number it
     */
    void Add(const std::string& name, const std::string& help, const weir::NumberParameter& number)
    {
        Add(name,
            help,
            DoubleValue(number.value),
            MakeDoubleChecker<double>(number.range.minimum, number.range.maximum));
    }

    void Add(const std::string& name, const std::string& help, const weir::CountParameter& count)
    {
        Add(name,
            help,
            UintegerValue(count.value),
            MakeUintegerChecker<uint32_t>(count.range.minimum, count.range.maximum));
    }

    void Add(const std::string& name,
             const std::string& help,
             const weir::OptionalCountParameter& count)
    {
        Add(name,
            help + " (0: without)",
            UintegerValue(count.value.value_or(0)),
            MakeUintegerChecker<uint32_t>(0, count.range.maximum));
    }

    void Add(const std::string& name, const std::string& help, const weir::CountsParameter&)
    {
        Add(name, help, StringValue(""), MakeStringChecker());
    }

    void Add(const std::string& name, const std::string& help, const weir::FlagParameter& flag)
    {
        Add(name, help, BooleanValue(flag.value), MakeBooleanChecker());
    }

    void Add(const std::string& name,
             const std::string& help,
             const weir::DurationParameter& duration)
    {
        AddTime(name, help, duration.value, duration.range);
    }

    void Add(const std::string& name, const std::string& help, const weir::SizeParameter& size)
    {
        Add(name,
            help + " (bytes)",
            UintegerValue(static_cast<uint64_t>(size.value.Count())),
            MakeUintegerChecker<uint64_t>(static_cast<uint64_t>(size.range.minimum.Count()),
                                          static_cast<uint64_t>(size.range.maximum.Count())));
    }

    void Add(const std::string& name, const std::string& help, const weir::DataRateParameter& rate)
    {
        Add(name, help, DataRateValue(ToNs3(rate.value)), MakeDataRateChecker());
    }

    void Add(const std::string& name, const std::string& help, const weir::SeedParameter& seed)
    {
        Add(name, help, UintegerValue(seed.value), MakeUintegerChecker<uint64_t>());
    }

    void Add(const std::string& name, const std::string& help, const weir::TextParameter& text)
    {
        Add(name, help, StringValue(text.value), MakeStringChecker());
    }

    void Add(const std::string& name, const std::string& help, const weir::ChoiceParameter& choice)
    {
        Add(name, help, StringValue(choice.names[choice.index]), MakeStringChecker());
    }

    void Add(const std::string& name, const std::string& help, const weir::LinkParameter& link)
    {
        const weir::LinkProfile& profile = link.value;
        Add(name + "Rate",
            help + " Its raw rate, one direction.",
            DataRateValue(ToNs3(profile.rawRate)),
            MakeDataRateChecker());
        Add(name + "Efficiency",
            help + " The part of its raw rate that carries payload (0 to 1).",
            DoubleValue(EfficiencyOf(profile)),
            MakeDoubleChecker<double>(MIN_EFFICIENCY, 1));
        AddTime(name + "Latency",
                help + " Its propagation and the fixed delay at the receiving device.",
                profile.latency,
                {weir::Time(), weir::Time::Infinite()});
    }

    void Add(const std::string& name,
             const std::string& help,
             const weir::DimensionsParameter& dimensions)
    {
        Add(name, help, StringValue(ToText(dimensions.value)), MakeStringChecker());
    }

    /** A selection, or a network that a file holds: no attribute. */
    template <typename P>
    void Add(const std::string&, const std::string&, const P&)
    {
    }

    /**
     * Adds an attribute, unless it is there.
     * @param name of the attribute
     * @param help what a user is told
     * @param initial its value at first
     * @param checker of its values
     */
    void Add(const std::string& name,
             const std::string& help,
             const AttributeValue& initial,
             const Ptr<const AttributeChecker>& checker)
    {
        if (m_names.insert(name).second)
        {
            m_tid.AddAttribute(name,
                               help,
                               initial,
                               Create<ParameterAccessor>(name, initial.Copy(), checker),
                               checker);
        }
    }

    /**
     * As Add.
     * @param name of the attribute
     * @param help what a user is told
     * @param initial its value at first
     * @param range of its values
     */
    void AddTime(const std::string& name,
                 const std::string& help,
                 weir::Time initial,
                 weir::ParameterRange<weir::Time> range)
    {
        Add(name,
            help,
            TimeValue(ToAttribute(initial)),
            range.maximum.IsInfinite()
                ? MakeTimeChecker(ToNs3(range.minimum))
                : MakeTimeChecker(ToNs3(range.minimum), ToNs3(range.maximum)));
    }

    TypeId m_tid;                  //!< gets the attributes
    std::set<std::string> m_names; //!< of those that it got
};

} // namespace

bool
ParameterizedObject::IsConstructed() const
{
    return m_isConstructed;
}

void
ParameterizedObject::NotifyConstructionCompleted()
{
    Object::NotifyConstructionCompleted();
    m_isConstructed = true;
}

TypeId
AddParameterAttributes(TypeId tid, const std::vector<weir::Parameterized*>& components)
{
    AttributeList list(tid);
    for (weir::Parameterized* component : components)
    {
        component->VisitParameters(list);
    }
    return tid;
}

} // namespace ns3
