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
#include <string>
#include <utility>
#include <vector>

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
 * A kind's name as the beginning of an attribute's.
 * @param kind "dragonfly-plus"
 * @return "DragonflyPlus"
 */
std::string
PrefixOf(const std::string& kind)
{
    std::string prefix;
    bool isFirst = true;
    for (const char c : kind)
    {
        if (c != '-')
        {
            prefix += isFirst ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        }
        isFirst = c == '-';
    }
    return prefix;
}

/**
 * A parameter's time as an attribute's.
 * @param time of the parameter
 * @return the same, Time::Max() for an infinite one, 0 for one below the simulator's resolution
 */
Time
ToAttribute(weir::Time time)
{
    if (time.IsInfinite())
    {
        return Time::Max();
    }
    const Time rounded = ToNs3(time);
    return rounded == TimeStep(1) && ToWeir(rounded) > time ? Time(0) : rounded;
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

/** From where on a time is infinite: as text, Time::Max() is rounded. Picoseconds count no more. */
constexpr double INFINITE_SECONDS = 9.2e6;

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

    /**
     * Whether the next component may have it: an attribute of one kind is that kind's alone.
     * @param prefix of its kind before the names of its attributes; empty: none
     */
    void Enter(const std::string& prefix)
    {
        m_prefix = prefix;
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        std::visit([&, name = m_prefix + NameOf(info)](const auto& each) { Move(name, each); },
                   parameter);
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
        if (TransferTime(name, duration.value))
        {
            // Ranges that are finer than the simulator's resolution are beyond its checker.
            const weir::Time least = duration.range.minimum;
            NS_ABORT_MSG_IF(duration.value < least && duration.value > weir::Time(),
                            m_name << " is " << duration.value.ToPicoseconds()
                                   << " ps, expected at least " << least.ToPicoseconds() << " ps");
            duration.value = std::max(duration.value, least);
        }
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
     * @return whether the parameter was set
     */
    bool TransferTime(const std::string& name, weir::Time& value)
    {
        Time time = name == m_name ? ToAttribute(value) : Time();
        if (!Transfer<TimeValue>(name, time))
        {
            return false;
        }
        value = time.GetSeconds() >= INFINITE_SECONDS ? weir::Time::Infinite() : ToWeir(time);
        return true;
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
    std::string m_prefix;                   //!< of the component's kind before its parameters
    const AttributeValue* m_given{nullptr}; //!< what parameters become
    AttributeValue* m_wanted{nullptr};      //!< becomes what the parameter is
    bool m_isDone{false};                   //!< whether there was one
};

constexpr const char* OWN = "own"; //!< the default of an attribute whose kinds differ in theirs

/** An attribute's value that may also be each kind's own default. */
class OwnValue
{
  public:
    virtual ~OwnValue() = default;

    /**
     * Whether it is each kind's own default.
     * @return true if so
     */
    bool IsOwn() const
    {
        return m_isOwn;
    }

  protected:
    bool m_isOwn{false}; //!< each kind's own default
};

/**
 * As OwnValue.
 * @tparam V the attribute's type, whose values are values of it, too
 */
template <typename V>
class OwnOr : public V, public OwnValue
{
  public:
    /** A value of the type. */
    OwnOr() = default;

    /**
     * Each kind's own.
     * @param shown what a caller reads that asks for a value of the type
     */
    explicit OwnOr(const V& shown)
        : V(shown)
    {
        m_isOwn = true;
    }

    Ptr<AttributeValue> Copy() const override
    {
        return Create<OwnOr>(*this);
    }

    std::string SerializeToString(Ptr<const AttributeChecker> checker) const override
    {
        return m_isOwn ? OWN : V::SerializeToString(checker);
    }

    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker> checker) override
    {
        m_isOwn = text == OWN;
        return m_isOwn || V::DeserializeFromString(text, checker);
    }
};

/**
 * Checks values of a type, and takes "own" for one.
 * @tparam V the attribute's type
 */
template <typename V>
class OwnChecker : public AttributeChecker
{
  public:
    /**
     * @param checker of other values
     */
    explicit OwnChecker(Ptr<const AttributeChecker> checker)
        : m_checker(std::move(checker))
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto* own = dynamic_cast<const OwnValue*>(&value);
        return (own != nullptr && own->IsOwn()) || m_checker->Check(value);
    }

    std::string GetValueTypeName() const override
    {
        return m_checker->GetValueTypeName();
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return m_checker->HasUnderlyingTypeInformation();
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return m_checker->GetUnderlyingTypeInformation();
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<OwnOr<V>>();
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        return m_checker->Copy(source, destination);
    }

  private:
    Ptr<const AttributeChecker> m_checker; //!< of other values
};

/** A default of an attribute. */
struct AttributeDefault
{
    std::string kind;          //!< whose
    Ptr<AttributeValue> value; //!< it
    std::string text;          //!< the same
};

/** What is to become one attribute, or one a kind. */
struct AttributeDraft
{
    std::string name;                                  //!< but for the kind
    bool isAlike{true};                                //!< values have one type in all kinds
    std::vector<AttributeDefault> defaults;            //!< by kind that has it
    std::vector<std::string> helps;                    //!< similarly
    std::vector<Ptr<const AttributeChecker>> checkers; //!< similarly
    Ptr<AttributeValue> own;                           //!< default where kinds differ in theirs
    Ptr<const AttributeChecker> ownChecker;            //!< similarly
};

/** An attribute that is a parameter of an object's components. */
class ParameterAccessor : public AttributeAccessor
{
  public:
    /**
     * @param name of the attribute
     * @param isOfKind whether the name begins with that of a kind
     * @param initial its value at first
     * @param defaults of the kinds that have it
     * @param checker of its values
     */
    ParameterAccessor(std::string name,
                      bool isOfKind,
                      Ptr<const AttributeValue> initial,
                      std::vector<AttributeDefault> defaults,
                      Ptr<const AttributeChecker> checker)
        : m_name(std::move(name)),
          m_isOfKind(isOfKind),
          m_initial(std::move(initial)),
          m_defaults(std::move(defaults)),
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
            return true; // components have that default, or what a preset has made of it
        }
        const auto* own = dynamic_cast<const OwnValue*>(&value);
        if (own != nullptr && own->IsOwn())
        {
            return Restore(*parameterized);
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
    bool Visit(ParameterizedObject& object, AttributeTransfer& transfer) const
    {
        for (const ParameterComponent& component : object.GetComponents())
        {
            transfer.Enter(m_isOfKind ? PrefixOf(component.kind) : "");
            component.list->VisitParameters(transfer);
        }
        return transfer.IsDone();
    }

    /**
     * Gives every component its own default.
     * @param object that has them
     * @return true
     */
    bool Restore(ParameterizedObject& object) const
    {
        for (const ParameterComponent& component : object.GetComponents())
        {
            for (const AttributeDefault& each : m_defaults)
            {
                if (each.kind == component.kind)
                {
                    const AttributeValue& value = *each.value;
                    AttributeTransfer transfer(m_name, value);
                    component.list->VisitParameters(transfer);
                }
            }
        }
        return true;
    }

    std::string m_name;                       //!< of the attribute
    bool m_isOfKind;                          //!< the name begins with that of a kind
    Ptr<const AttributeValue> m_initial;      //!< its value at first
    std::vector<AttributeDefault> m_defaults; //!< of the kinds that have it
    Ptr<const AttributeChecker> m_checker;    //!< of its values
};

/** Collects the parameters of components and adds attributes for them to a type ID. */
class AttributeList : public weir::ParameterVisitor
{
  public:
    /**
     * The next component's parameters come.
     * @param kind of the component
     */
    void Enter(const std::string& kind)
    {
        m_kind = kind;
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        std::visit([&, name = NameOf(info)](const auto& each) { Add(name, info.help, each); },
                   parameter);
    }

    /**
     * All components have been visited.
     * @param tid gets the attributes
     */
    void AddTo(TypeId tid) const
    {
        for (const AttributeDraft& draft : m_drafts)
        {
            if (draft.isAlike)
            {
                AddShared(tid, draft);
                continue;
            }
            for (std::size_t i = 0; i < draft.defaults.size(); i++)
            {
                const AttributeDefault& own = draft.defaults[i];
                const std::string name = PrefixOf(own.kind) + draft.name;
                tid.AddAttribute(name,
                                 draft.helps[i] + " Of kind " + own.kind + ".",
                                 *own.value,
                                 Create<ParameterAccessor>(
                                     name, true, own.value, std::vector{own}, draft.checkers[i]),
                                 draft.checkers[i]);
            }
        }
    }

  private:
    /**
     * Adds an attribute that all kinds share.
     * @param tid gets it
     * @param draft what it is
     */
    static void AddShared(TypeId tid, const AttributeDraft& draft)
    {
        const std::string& first = draft.defaults.front().text;
        const bool differs = std::any_of(draft.defaults.begin(),
                                         draft.defaults.end(),
                                         [&](const auto& each) { return each.text != first; });
        std::string help = draft.helps.front();
        if (differs)
        {
            std::string list;
            for (const AttributeDefault& each : draft.defaults)
            {
                list += (list.empty() ? "" : ", ") + each.kind + " " + each.text;
            }
            help += " Each kind has its own default: " + list + ".";
        }
        const Ptr<AttributeValue> initial = differs ? draft.own : draft.defaults.front().value;
        const auto checker = differs ? draft.ownChecker : draft.checkers.front();
        tid.AddAttribute(
            draft.name,
            help,
            *initial,
            Create<ParameterAccessor>(draft.name, false, initial, draft.defaults, checker),
            checker);
    }

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
     * Adds what a component says of an attribute.
     * @tparam V the attribute's type
     * @param name of the attribute, but for the kind
     * @param help what a user is told
     * @param initial its value at first
     * @param checker of its values
     */
    template <typename V>
    void Add(const std::string& name,
             const std::string& help,
             const V& initial,
             const Ptr<const AttributeChecker>& checker)
    {
        const auto found = std::find_if(
            m_drafts.begin(), m_drafts.end(), [&](const auto& each) { return each.name == name; });
        AttributeDraft& draft = found != m_drafts.end() ? *found : m_drafts.emplace_back();
        if (draft.name.empty())
        {
            draft.name = name;
            draft.own = Create<OwnOr<V>>(initial);
            draft.ownChecker = Create<OwnChecker<V>>(checker);
        }
        draft.isAlike = draft.isAlike && dynamic_cast<V*>(PeekPointer(draft.own)) != nullptr;
        draft.defaults.push_back({m_kind, initial.Copy(), initial.SerializeToString(checker)});
        draft.helps.push_back(help);
        draft.checkers.push_back(checker);
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
                ? MakeTimeChecker(ToAttribute(range.minimum))
                : MakeTimeChecker(ToAttribute(range.minimum), ToNs3(range.maximum)));
    }

    std::string m_kind;                   //!< of the component whose parameters come
    std::vector<AttributeDraft> m_drafts; //!< in their order
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
AddParameterAttributes(TypeId tid, const std::vector<ParameterComponent>& components)
{
    AttributeList list;
    for (const ParameterComponent& component : components)
    {
        list.Enter(component.kind);
        component.list->VisitParameters(list);
    }
    list.AddTo(tid);
    return tid;
}

} // namespace ns3
