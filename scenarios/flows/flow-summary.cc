// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/flows/flow-summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir
{

namespace
{

/** Flows of more than `above` and at most `upTo` bytes. */
struct SizeClass
{
    const char* name;
    int64_t above;
    int64_t upTo;
};

constexpr int64_t NOTHING = -1;
constexpr int64_t SMALL = 100'000;
constexpr int64_t MEDIUM = 10'000'000;
constexpr int64_t ANY = std::numeric_limits<int64_t>::max();

constexpr SizeClass SIZE_CLASSES[] = {{"all", NOTHING, ANY},
                                      {"<= 100 kB", NOTHING, SMALL},
                                      {"<= 10 MB", SMALL, MEDIUM},
                                      {"> 10 MB", MEDIUM, ANY}};

/** The class's flows; @p scratch is any memory to use. */
FlowClass
Classify(const SizeClass& size,
         const FlowResults& results,
         Transport& transport,
         std::vector<double>& scratch)
{
    const auto collect = [&](const auto& valueOf) {
        scratch.clear();
        for (std::size_t flow = 0; flow < results.Size(); flow++)
        {
            const int64_t bytes = results.GetBytes(flow).Count();
            if (bytes > size.above && bytes <= size.upTo && !results.Finish(flow).IsInfinite())
            {
                scratch.push_back(valueOf(flow));
            }
        }
        return scratch.empty() ? Percentiles() : PercentilesOf(scratch);
    };
    FlowClass found;
    found.name = size.name;
    found.completionSeconds =
        collect([&](std::size_t flow) { return results.CompletionTime(flow).ToSeconds(); });
    found.slowdown = collect([&](std::size_t flow) { return results.Slowdown(flow, transport); });
    found.flows = scratch.size();
    return found;
}

} // namespace

FlowSummary
SummarizeFlows(const FlowResults& results, Transport& transport)
{
    FlowSummary summary;
    Time first = Time::Infinite();
    Time last;
    double activeSeconds = 0;
    for (std::size_t flow = 0; flow < results.Size(); flow++)
    {
        if (results.Finish(flow).IsInfinite())
        {
            continue; // the run was stopped before
        }
        summary.flows++;
        summary.bytes += results.GetBytes(flow);
        first = std::min(first, results.Start(flow));
        last = std::max(last, results.Finish(flow));
        activeSeconds += results.CompletionTime(flow).ToSeconds();
    }
    if (summary.flows > 0)
    {
        summary.makespan = last - first;
        const double seconds = summary.makespan.ToSeconds();
        summary.meanActive = seconds > 0 ? activeSeconds / seconds : 0;
    }
    std::vector<double> scratch;
    scratch.reserve(results.Size());
    for (const SizeClass& size : SIZE_CLASSES)
    {
        FlowClass found = Classify(size, results, transport, scratch);
        if (found.flows > 0)
        {
            summary.classes.push_back(found);
        }
    }
    return summary;
}

} // namespace weir
