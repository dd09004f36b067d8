// SPDX-License-Identifier: GPL-2.0-only
#include "plan-names.h"

#include "scenarios/readers/scenario-names.h"

#include "ns3/abort.h"

namespace ns3
{

namespace
{

/** The value of that name among @p choices. */
template <typename E>
E
Parse(const weir::NamedChoices<E>& choices, const std::string& name, const char* attribute)
{
    std::string expected;
    for (const auto& [text, value] : choices)
    {
        if (name == text)
        {
            return value;
        }
        expected += std::string(expected.empty() ? "" : ", ") + text;
    }
    NS_ABORT_MSG("TrainingJob: " << attribute << " is '" << name
                                 << "', expected one of: " << expected);
}

} // namespace

weir::Precision
ParsePrecision(const std::string& name)
{
    return Parse(weir::PrecisionNames(), name, "Precision");
}

weir::JitterScope
ParseJitterScope(const std::string& name)
{
    return Parse(weir::JitterScopeNames(), name, "JitterPer");
}

} // namespace ns3
