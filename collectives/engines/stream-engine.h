// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
#define WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H

#include "collectives/engines/collective-engine.h"
#include "collectives/engines/plan-lookup.h"
#include "collectives/planner.h"
#include "fabric/slot-pool.h"
#include "fabric/transport/transport.h"
#include "fabric/units.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace weir
{

/**
 * The progress of a StreamPipeline's parts. Each moves all bytes of the pipeline, in up to three
 * pieces. A part begins when its head has crossed the part before, and its last bytes, as many as
 * the head, move after all bytes of the part before have.
 */
class PipelineRun
{
  public:
    /** Starts a piece of a part, by number, after a delay. */
    using Send = std::function<void(uint32_t part, Bytes bytes, Time delay)>;

    /**
     * @param bytes of @p pipeline that this run moves, at least 1
     * @param cap of its rate
     */
    PipelineRun(const StreamPipeline& pipeline, Bytes bytes, Rate cap);

    /** Begins the first part. */
    void Begin(const Send& send);

    /** The piece of a part has moved. @return whether the last part has ended */
    bool OnMoved(uint32_t part, Time now, const Send& send);

  private:
    struct Part
    {
        Bytes moved; //!< in pieces that have ended
        Bytes piece; //!< in the current piece
        Bytes head;  //!< of the next part
        Time delay;  //!< from when its head has crossed the part before until it begins
        Bytes free;  //!< how much may move before the part before has ended
        Time ready{Time::Infinite()}; //!< when its last bytes may move; infinite while the part
                                      //!< before moves
        bool waits{false};            //!< for the part before
    };

    void Go(uint32_t part, Time now, Time delay, const Send& send);

    Bytes m_bytes;
    std::vector<Part> m_parts;
};

/**
 * A collective is one fluid flow per distinct channel and stripe of its route, after the part of
 * the plan's latency that is before its flows. A flow has one rate over all hops of its channel at
 * once. Where filling a pipeline takes a large part of the call, each part of its stages has flows
 * of its own, which begin one after the other (StreamPipeline). An uncontended call takes the
 * plan's closed-form duration; concurrent flows share links by the transport's rule.
 */
class StreamEngine : public CollectiveEngine, private FlowClient
{
  public:
    /**
     * Both must outlive it. The owner of the transport advances it. The transport must be a fluid,
     * which moves flows over sums of routes.
     */
    StreamEngine(Planner& planner, Transport& transport);

    void Start(const CollectiveCall& call,
               CollectiveClient* client,
               uint64_t token,
               Time now) override;
    std::optional<FlowOrigin> OriginOf(const FlowRequest& request) const override;

    Time NextEventTime() override
    {
        return m_ends.empty() ? Time::Infinite() : m_ends.top().first;
    }

    void AdvanceTo(Time now) override;

  private:
    /** A stripe of a pipeline. */
    struct Stripe
    {
        PipelineRun run;
        const StreamPipeline* pipeline;
        uint32_t number;
        double share; //!< of the pipeline
    };

    struct Running
    {
        CollectiveClient* client{nullptr};
        uint64_t token{0};
        uint32_t flowsLeft{0}; //!< flows, or stripes of pipelines, that have not ended
        Time drain;            //!< from the end of the last flow to the end of the call
        const CollectivePlan* plan{nullptr};
        std::vector<Stripe> pipelines{}; //!< of the plan's pipelines
        Time end{};                      //!< of the pipelines that have ended
    };

    /** The token of a flow. */
    struct FlowToken
    {
        static constexpr unsigned PART_BITS = 8;

        static FlowToken Of(uint64_t packed)
        {
            const auto high = static_cast<uint32_t>(packed >> 32);
            return {
                static_cast<uint32_t>(packed), high >> PART_BITS, high & ((1U << PART_BITS) - 1)};
        }

        uint64_t Packed() const
        {
            return uint64_t{run << PART_BITS | part} << 32 | slot;
        }

        uint32_t slot{0};
        uint32_t run{0}; //!< index into Running::pipelines
        uint32_t part{0};
    };

    /** When a call ends, and its slot. */
    using End = std::pair<Time, uint32_t>;

    void OnFlowDone(uint64_t token, Time now) override;
    void StartPipelines(uint32_t slot, Time now);
    PipelineRun::Send SendOf(uint32_t slot, uint32_t run, Time now);
    void OnPieceMoved(const FlowToken& token, Time now);
    void Finish(uint32_t slot, Time now);

    PlanLookup m_plans;
    const Routing& m_routing;
    Transport& m_transport;
    SlotPool<std::vector<Running>> m_running; //!< by the token given to the flows
    std::priority_queue<End, std::vector<End>, std::greater<>> m_ends; //!< of calls that drain
};

} // namespace weir

#endif // WEIR_COLLECTIVES_ENGINES_STREAM_ENGINE_H
