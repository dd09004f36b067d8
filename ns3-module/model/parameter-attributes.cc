// SPDX-License-Identifier: GPL-2.0-only
#include "parameter-attributes.h"

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
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

/**
 * Converts a parameter's key or a kind's name to PascalCase.
 * @param text "markFrom", "host.kernel" or "dragonfly-plus"
 * @return "MarkFrom", "HostKernel" or "DragonflyPlus"
 */
std::string
PascalCase(const std::string& text)
{
    std::string name;
    bool isFirst = true;
    for (const char c : text)
    {
        const bool isSeparator = c == '-' || c == '.';
        if (!isSeparator)
        {
            name += isFirst ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        }
        isFirst = isSeparator;
    }
    return name;
}

/**
 * Converts the time of a parameter to that of an attribute.
 * @return the time; Time::Max() if infinite, 0 if below the simulator's resolution
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

/** The efficiency of a link. @return payload rate / raw rate */
double
EfficiencyOf(const weir::LinkProfile& link)
{
    return link.encoding * link.framing * link.measured;
}

/** Converts dimensions to text. @return their notation */
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
 * Parses dimensions; aborts if the text is invalid.
 * @param name of the attribute
 * @param text their notation; empty: none
 */
std::vector<weir::FabricDimension>
ParseText(const std::string& name, const std::string& text)
{
    if (text.empty())
    {
        return {}; // the text of the initial value
    }
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

constexpr double MIN_EFFICIENCY = 1e-6; // minimum of a link; a link with zero would be down

/**
 * Times from here on count as infinite, as Time::Max() is rounded when converted to text. This is
 * the range of picoseconds.
 */
constexpr double INFINITE_SECONDS = 9.2e6;

constexpr const char* ABSENT = "absent"; //!< text of an optional count that is absent

/** An attribute value that may also be a word with a meaning of its own. */
class WordValue
{
  public:
    virtual ~WordValue() = default;

    /** Whether it is a word. */
    bool Is(const std::string& word) const
    {
        return m_isWord && m_word == word;
    }

    /** Becomes the word, or a value, as another value is, if that has the same word. */
    void CopyWord(const WordValue& other)
    {
        m_isWord = other.m_word == m_word ? other.m_isWord : m_isWord;
    }

  protected:
    /** @param isWord whether it is the word */
    WordValue(std::string word, bool isWord)
        : m_word(std::move(word)),
          m_isWord(isWord)
    {
    }

    std::string m_word; //!< the word
    bool m_isWord;      //!< it is the word
};

/**
 * A value of an attribute, or a word.
 * @tparam V the attribute's type
 */
template <typename V>
class ValueOrWord : public V, public WordValue
{
  public:
    /**
     * @param isWord whether it is the word
     * @param value the value; of a word, the one that is returned for a value of the type
     */
    ValueOrWord(const std::string& word, bool isWord, const V& value)
        : V(value),
          WordValue(word, isWord)
    {
    }

    Ptr<AttributeValue> Copy() const override
    {
        return Create<ValueOrWord>(*this);
    }

    std::string SerializeToString(Ptr<const AttributeChecker> checker) const override
    {
        return m_isWord ? m_word : V::SerializeToString(checker);
    }

    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker> checker) override
    {
        m_isWord = text == m_word;
        return m_isWord || V::DeserializeFromString(text, checker);
    }
};

/**
 * Checks values of a type, and accepts a word.
 * @tparam V the attribute's type
 */
template <typename V>
class ValueOrWordChecker : public AttributeChecker
{
  public:
    /** @param checker of other values */
    ValueOrWordChecker(std::string word, Ptr<const AttributeChecker> checker)
        : m_word(std::move(word)),
          m_checker(std::move(checker))
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const auto* word = dynamic_cast<const WordValue*>(&value);
        return (word != nullptr && word->Is(m_word)) || m_checker->Check(value);
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
        return ns3::Create<ValueOrWord<V>>(m_word, false, V());
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        const auto* from = dynamic_cast<const WordValue*>(&source);
        auto* to = dynamic_cast<WordValue*>(&destination);
        if (from != nullptr && to != nullptr)
        {
            to->CopyWord(*from);
        }
        return m_checker->Copy(source, destination);
    }

  private:
    std::string m_word;                    //!< the word
    Ptr<const AttributeChecker> m_checker; //!< of other values
};

/**
 * Enumerates the attributes of a parameter: most have one, a link has three. For each it calls
 * m_use(name, help, value, checker, set), where set(value) changes the parameter.
 * @tparam F type of m_use
 */
template <typename F>
class AttributesOf
{
  public:
    /**
     * @param name of the parameter's attribute, or the prefix of those of a link
     * @param help of the parameter
     * @param use called for each attribute
     */
    AttributesOf(std::string name, std::string help, const F& use)
        : m_name(std::move(name)),
          m_help(std::move(help)),
          m_use(use)
    {
    }

    /** Enumerates the attributes of a parameter. There is one overload per type of parameter. */
    void operator()(const weir::NumberParameter& number) const
    {
        m_use(m_name,
              m_help,
              DoubleValue(number.value),
              MakeDoubleChecker<double>(number.range.minimum, number.range.maximum),
              [&](const DoubleValue& given) { number.value = given.Get(); });
    }

    void operator()(const weir::CountParameter& count) const
    {
        m_use(
            m_name,
            m_help,
            UintegerValue(count.value),
            MakeUintegerChecker<uint32_t>(count.range.minimum, count.range.maximum),
            [&](const UintegerValue& given) { count.value = static_cast<uint32_t>(given.Get()); });
    }

    void operator()(const weir::OptionalCountParameter& count) const
    {
        const ValueOrWord<UintegerValue> value(
            ABSENT, !count.value, UintegerValue(count.value.value_or(0)));
        m_use(m_name,
              m_help + " The text \"" + ABSENT + "\" means that it is absent.",
              static_cast<const UintegerValue&>(value), // also one of the kinds that require it
              Create<ValueOrWordChecker<UintegerValue>>(
                  ABSENT, MakeUintegerChecker<uint32_t>(count.range.minimum, count.range.maximum)),
              [&](const UintegerValue& given) {
                  const auto* word = dynamic_cast<const WordValue*>(&given);
                  const bool isAbsent = word != nullptr && word->Is(ABSENT);
                  count.value =
                      isAbsent ? std::nullopt : std::optional(static_cast<uint32_t>(given.Get()));
              });
    }

    void operator()(const weir::CountsParameter& counts) const
    {
        std::string text;
        for (const uint32_t value : counts.value)
        {
            text += (text.empty() ? "" : "x") + std::to_string(value);
        }
        m_use(
            m_name, m_help, StringValue(text), MakeStringChecker(), [&](const StringValue& given) {
                counts.value.clear();
                for (const weir::FabricDimension& each : ParseText(m_name, given.Get()))
                {
                    counts.value.push_back(each.size);
                }
            });
    }

    void operator()(const weir::FlagParameter& flag) const
    {
        m_use(m_name,
              m_help,
              BooleanValue(flag.value),
              MakeBooleanChecker(),
              [&](const BooleanValue& given) { flag.value = given.Get(); });
    }

    void operator()(const weir::DurationParameter& duration) const
    {
        const weir::Time min = duration.range.minimum;
        const weir::Time max = duration.range.maximum;
        m_use(m_name,
              m_help,
              TimeValue(ToAttribute(duration.value)),
              max.IsInfinite() ? MakeTimeChecker(ToAttribute(min))
                               : MakeTimeChecker(ToAttribute(min), ToNs3(max)),
              [&](const TimeValue& given) {
                  const bool isInfinite = given.Get().GetSeconds() >= INFINITE_SECONDS;
                  const weir::Time time = isInfinite ? weir::Time::Infinite() : ToWeir(given.Get());
                  // The checker cannot check ranges finer than the simulator's resolution.
                  NS_ABORT_MSG_IF(time < min && time > weir::Time(),
                                  m_name << " is " << time.ToPicoseconds()
                                         << " ps, expected at least " << min.ToPicoseconds()
                                         << " ps");
                  duration.value = std::max(time, min);
              });
    }

    void operator()(const weir::SizeParameter& size) const
    {
        m_use(m_name,
              m_help + " Unit: bytes.",
              UintegerValue(static_cast<uint64_t>(size.value.Count())),
              MakeUintegerChecker<uint64_t>(static_cast<uint64_t>(size.range.minimum.Count()),
                                            static_cast<uint64_t>(size.range.maximum.Count())),
              [&](const UintegerValue& given) {
                  size.value = weir::Bytes(static_cast<int64_t>(given.Get()));
              });
    }

    void operator()(const weir::DataRateParameter& rate) const
    {
        m_use(m_name,
              m_help,
              DataRateValue(ToNs3(rate.value)),
              MakeDataRateChecker(),
              [&](const DataRateValue& given) { rate.value = ToWeir(given.Get()); });
    }

    void operator()(const weir::SeedParameter& seed) const
    {
        m_use(m_name,
              m_help,
              UintegerValue(seed.value),
              MakeUintegerChecker<uint64_t>(),
              [&](const UintegerValue& given) { seed.value = given.Get(); });
    }

    void operator()(const weir::TextParameter& text) const
    {
        m_use(m_name,
              m_help,
              StringValue(text.value),
              MakeStringChecker(),
              [&](const StringValue& given) { text.value = given.Get(); });
    }

    void operator()(const weir::ChoiceParameter& choice) const
    {
        const auto& names = choice.names;
        m_use(m_name,
              m_help,
              StringValue(names[choice.index]),
              MakeStringChecker(),
              [&](const StringValue& given) {
                  const auto found = std::find(names.begin(), names.end(), given.Get());
                  std::string expected;
                  for (const std::string& each : names)
                  {
                      expected += (expected.empty() ? "" : ", ") + each;
                  }
                  NS_ABORT_MSG_IF(found == names.end(),
                                  m_name << " is '" << given.Get()
                                         << "', expected one of: " << expected);
                  choice.index = static_cast<std::size_t>(found - names.begin());
              });
    }

    void operator()(const weir::LinkParameter& link) const
    {
        weir::LinkProfile& profile = link.value;
        const auto use = [&](const std::string& name,
                             const std::string& help,
                             const auto& value,
                             const Ptr<const AttributeChecker>& checker,
                             const auto& set) {
            m_use(name, help, value, checker, [&](const auto& given) {
                set(given);
                profile.source = "attributes of an ns-3 object";
            });
        };
        AttributesOf<decltype(use)>(m_name + "Rate", m_help + " Raw rate in one direction.", use)(
            weir::DataRateParameter{profile.rawRate, {}});
        use(m_name + "Efficiency",
            m_help + " Fraction of the raw rate that carries payload (0 to 1).",
            DoubleValue(EfficiencyOf(profile)),
            MakeDoubleChecker<double>(MIN_EFFICIENCY, 1),
            [&](const DoubleValue& given) {
                profile.encoding = 1;
                profile.framing = given.Get();
                profile.measured = 1;
            });
        AttributesOf<decltype(use)>(
            m_name + "Latency",
            m_help + " Propagation delay plus the fixed delay of the receiving device.",
            use)(weir::DurationParameter{profile.latency, {weir::Time(), weir::Time::Infinite()}});
    }

    void operator()(const weir::DimensionsParameter& dimensions) const
    {
        m_use(m_name,
              m_help,
              StringValue(ToText(dimensions.value)),
              MakeStringChecker(),
              [&](const StringValue& given) { dimensions.value = ParseText(m_name, given.Get()); });
    }

    /** Selections and graphs from files have no attributes. */
    template <typename P>
    void operator()(const P&) const
    {
    }

  private:
    std::string m_name; //!< of the attribute
    std::string m_help; //!< help of the attribute
    const F& m_use;     //!< called for each attribute
};

/** Copies the value of one attribute to its parameter, or from it. */
class AttributeTransfer : public weir::ParameterVisitor
{
  public:
    /**
     * Sets parameters.
     * @param value their new value
     */
    AttributeTransfer(const std::string& name, const AttributeValue& value)
        : m_name(name),
          m_given(&value)
    {
    }

    /**
     * Reads a parameter.
     * @param value receives its value
     */
    AttributeTransfer(const std::string& name, AttributeValue& value)
        : m_name(name),
          m_wanted(&value)
    {
    }

    /** Whether there was a parameter with that name and the type of the value. */
    bool IsDone() const
    {
        return m_isDone;
    }

    /**
     * Starts the next component. The names of its attributes have a prefix if they are specific to
     * its kind.
     * @param prefix of the kind; empty: none
     */
    void Enter(const std::string& prefix)
    {
        m_prefix = prefix;
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        const auto move = [this](const std::string& name,
                                 const std::string&,
                                 const auto& value,
                                 const Ptr<const AttributeChecker>& checker,
                                 const auto& set) {
            if (name == m_name)
            {
                Transfer(value, *checker, set);
            }
        };
        std::visit(AttributesOf(m_prefix + PascalCase(info.key), "", move), parameter);
    }

  private:
    /**
     * Copies a value between the attribute and a parameter.
     * @tparam V the attribute's type
     * @param set changes the parameter
     */
    template <typename V, typename Set>
    void Transfer(const V& value, const AttributeChecker& checker, const Set& set)
    {
        if (const auto* given = dynamic_cast<const V*>(m_given))
        {
            set(*given);
            m_isDone = true;
        }
        if (m_wanted != nullptr && !m_isDone) // the value of the first component
        {
            m_isDone = checker.Copy(value, *m_wanted);
        }
    }

    const std::string& m_name;              //!< of the attribute
    std::string m_prefix;                   //!< prefix of the component's kind
    const AttributeValue* m_given{nullptr}; //!< value to set; null: reading
    AttributeValue* m_wanted{nullptr};      //!< receives the value; null: setting
    bool m_isDone{false};                   //!< a parameter was found
};

constexpr const char* OWN = "own"; //!< default of an attribute whose default depends on the kind

/** The default of an attribute in one kind. */
struct AttributeDefault
{
    std::string kind;          //!< kind
    Ptr<AttributeValue> value; //!< default value
    std::string text;          //!< value as text
};

/** The data of one attribute, or of one per kind, while parameters are collected. */
struct AttributeDraft
{
    std::string name;                                  //!< name without the kind
    bool isAlike{true};                                //!< values have one type in all kinds
    std::vector<AttributeDefault> defaults;            //!< by kind that has the parameter
    std::vector<std::string> helps;                    //!< as defaults
    std::vector<Ptr<const AttributeChecker>> checkers; //!< as defaults
    Ptr<AttributeValue> own;                           //!< default if the defaults of kinds differ
    Ptr<const AttributeChecker> ownChecker;            //!< as defaults
};

/** The accessor of an attribute that is a parameter of an object's components. */
class ParameterAccessor : public AttributeAccessor
{
  public:
    /**
     * @param name of the attribute
     * @param isOfKind whether the name begins with that of a kind
     * @param defaults of the kinds that have it
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
            return true; // components have that default, or the value of a preset
        }
        const auto* word = dynamic_cast<const WordValue*>(&value);
        if (word != nullptr && word->Is(OWN))
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
        // The access is read-only; GetComponents has no const version.
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
     * Visits all components with a transfer.
     * @param object that has them
     * @param transfer the visitor
     * @return whether the transfer was done
     */
    bool Visit(ParameterizedObject& object, AttributeTransfer& transfer) const
    {
        for (const ParameterComponent& component : object.GetComponents())
        {
            transfer.Enter(m_isOfKind ? PascalCase(component.kind) : "");
            component.list->VisitParameters(transfer);
        }
        return transfer.IsDone();
    }

    /**
     * Resets the parameter of every component to its own default.
     * @param object that has them
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
    Ptr<const AttributeValue> m_initial;      //!< initial value
    std::vector<AttributeDefault> m_defaults; //!< of the kinds that have it
    Ptr<const AttributeChecker> m_checker;    //!< of its values
};

/** Collects the parameters of components and adds attributes for them to a type ID. */
class AttributeList : public weir::ParameterVisitor
{
  public:
    /** Starts the next component. */
    void Enter(const std::string& kind)
    {
        m_kind = kind;
    }

    void Visit(const weir::ParameterInfo& info, const weir::Parameter& parameter) override
    {
        const auto add = [this](const std::string& name,
                                const std::string& help,
                                const auto& value,
                                const Ptr<const AttributeChecker>& checker,
                                const auto&) { Add(name, help, value, checker); };
        std::visit(AttributesOf(PascalCase(info.key), info.help, add), parameter);
    }

    /**
     * Adds the collected attributes to a type ID.
     * @param tid receives the attributes
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
                const std::string name = PascalCase(own.kind) + draft.name;
                tid.AddAttribute(name,
                                 draft.helps[i] + " Applies to kind " + own.kind + ".",
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
     * @param tid receives it
     * @param draft its data
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
     * Adds the default, help and checker of an attribute in one component.
     * @tparam V the attribute's type
     * @param name of the attribute, without the kind
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
            draft.own = Create<ValueOrWord<V>>(OWN, true, initial);
            draft.ownChecker = Create<ValueOrWordChecker<V>>(OWN, checker);
        }
        draft.isAlike = draft.isAlike && dynamic_cast<V*>(PeekPointer(draft.own)) != nullptr;
        draft.defaults.push_back({m_kind, initial.Copy(), initial.SerializeToString(checker)});
        draft.helps.push_back(help);
        draft.checkers.push_back(checker);
    }

    std::string m_kind;                   //!< of the current component
    std::vector<AttributeDraft> m_drafts; //!< in the order of the parameters
};

} // namespace

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
