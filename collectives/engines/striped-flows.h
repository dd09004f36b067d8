// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_STRIPED_FLOWS_H
#define WEIR_COLLECTIVES_ENGINES_STRIPED_FLOWS_H

#include "fabric/routing/routing.h"
#include "fabric/transport/transport.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir
{

/**
 * Calls @p use(request, number) with the request of each stripe of the route of @p whole. Stripes
 * carry equal bytes, to one byte, with as much of the cap, so that all end at the same time, and
 * have equal parts of the weight.
 */
template <typename Use>
void
ForEachStripe(const FlowRequest& whole, const Routing& routing, const Use& use)
{
    const auto count = static_cast<int64_t>(routing.StripeCount(whole.route));
    FlowRequest stripe = whole;
    stripe.weight = whole.weight / static_cast<double>(count);
    for (int64_t i = 0; i < count; ++i)
    {
        stripe.route = routing.Stripe(whole.route, i);
        stripe.bytes = whole.bytes / count + Bytes(i < whole.bytes.Count() % count ? 1 : 0);
        const double part = stripe.bytes > Bytes()
                                ? stripe.bytes.ToDouble() / whole.bytes.ToDouble()
                                : 1 / static_cast<double>(count);
        stripe.cap = whole.cap * part;
        use(stripe, static_cast<std::size_t>(i));
    }
}

/** Counts the slices of a connection of which all stripes have been moved. */
class StripedSlices
{
  public:
    explicit StripedSlices(std::size_t stripes)
        : m_ahead(stripes, 0)
    {
    }

    /**
     * Stripe @p number of its next slice has been moved. The stripes of one number are moved in the
     * order of their slices. O(stripes)
     * @return whether it was the last one of its slice
     */
    bool Add(std::size_t number)
    {
        ++m_ahead[number];
        if (std::find(m_ahead.begin(), m_ahead.end(), 0U) != m_ahead.end())
        {
            return false;
        }
        for (uint32_t& slices : m_ahead)
        {
            --slices;
        }
        return true;
    }

  private:
    std::vector<uint32_t> m_ahead; //!< by stripe: slices moved beyond the last complete one
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_STRIPED_FLOWS_H
