// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/writers/write-traffic.h"

#include <limits>

namespace weir
{

void
WriteTraffic(YamlWriter& out, const TrafficSpec& spec)
{
    out.BeginMap("traffic");
    out.Text("pattern", ToString(spec.kind));
    switch (spec.kind)
    {
    case TrafficKind::Poisson:
        out.Number("load", spec.load);
        break;
    case TrafficKind::Incast:
        out.Integer("senders", spec.senders);
        break;
    case TrafficKind::OnOff:
        out.Duration("on", spec.on);
        out.Duration("off", spec.off);
        out.Text("spans", spec.isFixed ? "fixed" : "exponential");
        if (!spec.rate.IsInfinite())
        {
            out.Speed("rate", spec.rate);
        }
        break;
    case TrafficKind::Permutation:
    case TrafficKind::AllToAll:
        break;
    }
    if (!spec.sizesName.empty())
    {
        out.Text("sizes", spec.sizesName);
    }
    else if (spec.kind != TrafficKind::OnOff)
    {
        out.Size("bytes", spec.sizes.Quantile(0));
    }
    if (spec.every > Time())
    {
        out.Duration("every", spec.every);
        if (spec.times != std::numeric_limits<uint32_t>::max())
        {
            out.Integer("times", spec.times);
        }
    }
    if (!spec.duration.IsInfinite())
    {
        out.Duration("duration", spec.duration);
    }
    out.Integer("seed", spec.seed);
    out.EndMap();
}

} // namespace weir
