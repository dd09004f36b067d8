// SPDX-License-Identifier: GPL-2.0-only
#include "plan-attributes.h"

#include "scenarios/readers/plan-keys.h"

#include "ns3/abort.h"
#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/weir-units.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string>

namespace ns3
{

namespace
{

using PlanOf = weir::ParallelPlan& (*)(ObjectBase& object);

/** "HostKernel" of "host.kernel". */
std::string
AttributeName(const std::string& path)
{
    std::string name;
    bool isFirst = true;
    for (const char c : path)
    {
        if (c == '.')
        {
            isFirst = true;
            continue;
        }
        name += isFirst ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        isFirst = false;
    }
    return name;
}

/** Between a plan's value and the attribute value of ns-3 that holds the same. */
class PlanValue
{
  public:
    explicit PlanValue(const weir::PlanKey& key)
        : m_key(key)
    {
    }

    /** What @p plan has. */
    Ptr<AttributeValue> Get(const weir::ParallelPlan& plan) const
    {
        weir::ParallelPlan copy = plan;
        return std::visit([&](const auto& value) { return Read(value, copy); }, m_key.value);
    }

    /** Whether @p from is of the right kind; then @p plan has it. */
    bool Set(const AttributeValue& from, weir::ParallelPlan& plan) const
    {
        return std::visit([&](const auto& value) { return Write(value, from, plan); }, m_key.value);
    }

    Ptr<const AttributeChecker> Checker() const
    {
        return std::visit([](const auto& value) { return CheckerOf(value); }, m_key.value);
    }

  private:
    static Ptr<AttributeValue> Read(const weir::PlanCount& count, weir::ParallelPlan& plan)
    {
        return Create<UintegerValue>(count.at(plan));
    }

    static Ptr<AttributeValue> Read(const weir::PlanFlag& flag, weir::ParallelPlan& plan)
    {
        return Create<BooleanValue>(flag.at(plan));
    }

    static Ptr<AttributeValue> Read(const weir::PlanNumber& number, weir::ParallelPlan& plan)
    {
        return Create<DoubleValue>(number.at(plan));
    }

    static Ptr<AttributeValue> Read(const weir::PlanSize& size, weir::ParallelPlan& plan)
    {
        return Create<UintegerValue>(static_cast<uint64_t>(size.at(plan).Count()));
    }

    static Ptr<AttributeValue> Read(const weir::PlanTime& time, weir::ParallelPlan& plan)
    {
        return Create<TimeValue>(ToNs3(time.at(plan)));
    }

    static Ptr<AttributeValue> Read(const weir::PlanChoice& choice, weir::ParallelPlan& plan)
    {
        return Create<StringValue>(choice.names.at(choice.get(plan)));
    }

    static bool Write(const weir::PlanCount& count,
                      const AttributeValue& from,
                      weir::ParallelPlan& plan)
    {
        const auto* value = dynamic_cast<const UintegerValue*>(&from);
        if (value != nullptr)
        {
            count.at(plan) = static_cast<uint32_t>(value->Get());
        }
        return value != nullptr;
    }

    static bool Write(const weir::PlanFlag& flag,
                      const AttributeValue& from,
                      weir::ParallelPlan& plan)
    {
        const auto* value = dynamic_cast<const BooleanValue*>(&from);
        if (value != nullptr)
        {
            flag.at(plan) = value->Get();
        }
        return value != nullptr;
    }

    static bool Write(const weir::PlanNumber& number,
                      const AttributeValue& from,
                      weir::ParallelPlan& plan)
    {
        const auto* value = dynamic_cast<const DoubleValue*>(&from);
        if (value != nullptr)
        {
            number.at(plan) = value->Get();
        }
        return value != nullptr;
    }

    static bool Write(const weir::PlanSize& size,
                      const AttributeValue& from,
                      weir::ParallelPlan& plan)
    {
        const auto* value = dynamic_cast<const UintegerValue*>(&from);
        if (value != nullptr)
        {
            size.at(plan) = weir::Bytes(static_cast<int64_t>(value->Get()));
        }
        return value != nullptr;
    }

    static bool Write(const weir::PlanTime& time,
                      const AttributeValue& from,
                      weir::ParallelPlan& plan)
    {
        const auto* value = dynamic_cast<const TimeValue*>(&from);
        if (value != nullptr)
        {
            time.at(plan) = ToWeir(value->Get());
        }
        return value != nullptr;
    }

    bool Write(const weir::PlanChoice& choice,
               const AttributeValue& from,
               weir::ParallelPlan& plan) const
    {
        const auto* value = dynamic_cast<const StringValue*>(&from);
        if (value == nullptr)
        {
            return false;
        }
        const auto found = std::find(choice.names.begin(), choice.names.end(), value->Get());
        if (found == choice.names.end())
        {
            std::string expected;
            for (const std::string& name : choice.names)
            {
                expected += (expected.empty() ? "" : ", ") + name;
            }
            NS_ABORT_MSG("TrainingJob: " << AttributeName(m_key.path) << " is '" << value->Get()
                                         << "', expected one of: " << expected);
        }
        choice.set(plan, static_cast<std::size_t>(found - choice.names.begin()));
        return true;
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanCount& count)
    {
        return MakeUintegerChecker<uint32_t>(static_cast<uint32_t>(count.least),
                                             static_cast<uint32_t>(count.most));
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanFlag&)
    {
        return MakeBooleanChecker();
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanNumber& number)
    {
        return MakeDoubleChecker<double>(number.least, number.most);
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanSize&)
    {
        return MakeUintegerChecker<uint64_t>(1, std::numeric_limits<int64_t>::max());
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanTime&)
    {
        return MakeTimeChecker(Time(0));
    }

    static Ptr<const AttributeChecker> CheckerOf(const weir::PlanChoice&)
    {
        return MakeStringChecker();
    }

    weir::PlanKey m_key;
};

/** Lets ns-3 reach one value of an object's plan. */
class PlanAccessor : public AttributeAccessor
{
  public:
    PlanAccessor(const weir::PlanKey& key, PlanOf planOf)
        : m_value(key),
          m_planOf(planOf)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        return m_value.Set(value, m_planOf(*object));
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        // What the accessors of ns-3 give is serialised and read again, whatever the kind.
        const auto checker = m_value.Checker();
        const auto has = m_value.Get(m_planOf(const_cast<ObjectBase&>(*object)));
        return value.DeserializeFromString(has->SerializeToString(checker), checker);
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
    PlanValue m_value;
    PlanOf m_planOf;
};

} // namespace

TypeId
AddPlanAttributes(TypeId tid, PlanOf planOf)
{
    const weir::ParallelPlan plan = DefaultAttributes();
    for (const weir::PlanKey& key : weir::PlanKeys())
    {
        const PlanValue value(key);
        tid = tid.AddAttribute(AttributeName(key.path),
                               key.help,
                               *value.Get(plan),
                               Create<PlanAccessor>(key, planOf),
                               value.Checker());
    }
    return tid;
}

void
ReplaceUnsetValues(weir::ParallelPlan& plan,
                   const weir::ParallelPlan& before,
                   const weir::ParallelPlan& after)
{
    for (const weir::PlanKey& key : weir::PlanKeys())
    {
        const PlanValue value(key);
        const auto text = [&value](const weir::ParallelPlan& of) {
            return value.Get(of)->SerializeToString(value.Checker());
        };
        if (text(plan) == text(before))
        {
            value.Set(*value.Get(after), plan);
        }
    }
}

weir::ParallelPlan
DefaultAttributes()
{
    weir::ParallelPlan plan;
    plan.host = weir::EagerHost();
    return plan;
}

} // namespace ns3
