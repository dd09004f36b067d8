// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/hybrid/coupling-spec.h"

#include <stdexcept>

namespace weir
{

namespace
{

/** Whether @p text matches @p pattern, in which * stands for any text. */
bool
Matches(const std::string& text, const std::string& pattern)
{
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t star = std::string::npos;
    std::size_t from = 0;
    while (t < text.size())
    {
        if (p < pattern.size() && pattern[p] == '*')
        {
            star = p++;
            from = t;
        }
        else if (p < pattern.size() && pattern[p] == text[t])
        {
            p++;
            t++;
        }
        else if (star != std::string::npos)
        {
            p = star + 1;
            t = ++from;
        }
        else
        {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string::npos;
}

} // namespace

void
CouplingSpec::VisitParameters(ParameterVisitor& visitor)
{
    visitor.Duration({"window",
                      "Interval at which the fluid learns the rates of packets; 0: the shortest "
                      "round-trip time of a packet flow."},
                     window,
                     {Time(), Time::Seconds(1)});
    visitor.Flag({"insideNodes",
                  "Whether traffic inside nodes also moves as packets, for jobs and events whose "
                  "flows are packets; false: it is fluid."},
                 insideNodes);
}

std::vector<LinkId>
LinksNamed(const Topology& topology, const std::string& pattern)
{
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < topology.LinkCount(); i++)
    {
        if (Matches(topology.LinkName(LinkId(i)), pattern))
        {
            links.emplace_back(i);
        }
    }
    if (links.empty())
    {
        throw std::invalid_argument("found '" + pattern +
                                    "', expected the name of a link, as 'leaf0->spine1', in "
                                    "which * stands for any text");
    }
    return links;
}

} // namespace weir
