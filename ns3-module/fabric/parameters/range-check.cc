// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/parameters/range-check.h"

#include "fabric/parameters/partial-visitor.h"

#include <sstream>
#include <stdexcept>

namespace weir
{

namespace
{

template <typename T>
T
Plain(T value)
{
    return value;
}

double
Plain(Time value)
{
    return value.ToSeconds();
}

int64_t
Plain(Bytes value)
{
    return value.Count();
}

double
Plain(Rate value)
{
    return value.ToBytesPerSecond();
}

class RangeCheck : public PartialVisitor
{
  public:
    explicit RangeCheck(const std::string& field)
        : m_field(field)
    {
    }

    void Count(const ParameterInfo& info, uint32_t& value, ParameterRange<uint32_t> range) override
    {
        Check(info.key, value, range);
    }

    void OptionalCount(const ParameterInfo& info,
                       std::optional<uint32_t>& value,
                       ParameterRange<uint32_t> range) override
    {
        if (value)
        {
            Check(info.key, *value, range);
        }
    }

    void Counts(const ParameterInfo& info,
                std::vector<uint32_t>& values,
                ParameterRange<uint32_t> range) override
    {
        for (std::size_t i = 0; i < values.size(); i++)
        {
            Check(info.key + ("." + std::to_string(i)), values[i], range);
        }
    }

    void Number(const ParameterInfo& info, double& value, ParameterRange<double> range) override
    {
        Check(info.key, value, range);
    }

    void Duration(const ParameterInfo& info, Time& value, ParameterRange<Time> range) override
    {
        Check(info.key, value, range, " s");
    }

    void Size(const ParameterInfo& info, Bytes& value, ParameterRange<Bytes> range) override
    {
        Check(info.key, value, range, " B");
    }

    void DataRate(const ParameterInfo& info, Rate& value, ParameterRange<Rate> range) override
    {
        Check(info.key, value, range, " B/s");
    }

  private:
    template <typename T>
    void Check(const std::string& key, T value, ParameterRange<T> range, const char* unit = "")
    {
        if (value >= range.minimum && value <= range.maximum) // not: a number that is none
        {
            return;
        }
        std::ostringstream text;
        text << m_field << "." << key << ": " << Plain(value) << unit << ", expected "
             << Plain(range.minimum) << " to " << Plain(range.maximum) << unit;
        throw std::invalid_argument(text.str());
    }

    const std::string& m_field;
};

} // namespace

void
CheckRanges(Parameterized& component, const std::string& field)
{
    RangeCheck check(field);
    component.VisitParameters(check);
}

} // namespace weir
