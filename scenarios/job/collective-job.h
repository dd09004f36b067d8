// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_COLLECTIVE_JOB_H
#define WEIR_JOB_COLLECTIVE_JOB_H

#include "collective-runtime.h"

#include "collectives/engines/collective-loop.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "ns3/fluid-fabric.h"
#include "ns3/parameter-attributes.h"
#include "ns3/traced-callback.h"

#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/** One collective operation of a group of GPUs, called repeatedly, as nccl-tests does. */
class CollectiveJob : public ParameterizedObject, private weir::Parameterized
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    CollectiveJob();
    ~CollectiveJob() override;

    /**
     * Installs the job on GPUs; it starts at its StartTime. An infeasible job ends the program with
     * the reason. Must not be called from a callback of the engines, such as CollectiveFinished:
     * schedule it instead (Simulator::ScheduleNow).
     * @param fabric the fabric that connects the GPUs
     * @param gpus the group in rank order, as GPU numbers of the cluster; at least one
     */
    void Install(Ptr<FluidFabric> fabric, const std::vector<uint32_t>& gpus);

    /**
     * The plan of the calls: algorithm, protocol, channels, and the closed-form time.
     * @return the plan
     */
    const weir::CollectivePlan& GetPlan();

    /** Durations of the finished calls, in order. */
    const std::vector<weir::Time>& GetDurations() const;

    /**
     * Bus bandwidth of the last finished call as nccl-tests defines it: bytes / time, times the
     * operation's factor, which makes it comparable to a link rate.
     * @return the bandwidth; 0 for a call that takes no time
     */
    weir::Rate GetBusBandwidth() const;

    /**
     * What the pending call is blocked on when the run cannot continue.
     * @return the blocked ranks and the links that are down; empty when all calls have ended
     */
    std::string DescribeWaiting() const;

    /**
     * TracedCallback signature of CollectiveFinished.
     * @param call number of the call, from 0
     * @param plan its algorithm, protocol and channels
     * @param started exact time of its start
     * @param now exact time of its end
     */
    typedef void (*CollectiveFinishedTracedCallback)(uint32_t call,
                                                     const weir::CollectivePlan& plan,
                                                     weir::Time started,
                                                     weir::Time now);

    std::vector<ParameterComponent> GetComponents() override;

  protected:
    void DoDispose() override;

  private:
    void VisitParameters(weir::ParameterVisitor& visitor) override;

    /** The calls; the job must be installed. */
    const weir::CollectiveLoop& GetLoop() const;

    weir::CollectiveOp m_operation{weir::CollectiveOp::AllReduce}; //!< what is called
    weir::Bytes m_bytes{1 << 30};                                  //!< size as in nccl-tests
    uint32_t m_root{0};                                            //!< group rank
    std::optional<weir::Algorithm> m_algorithm;                    //!< nothing: as NCCL chooses
    std::optional<weir::Protocol> m_protocol;                      //!< nothing: as NCCL chooses
    uint32_t m_channels{0};                                        //!< 0: as NCCL chooses
    weir::Fidelity m_fidelity{weir::Fidelity::Stream};             //!< level of detail
    uint32_t m_calls{1};                                           //!< how many
    weir::Time m_startTime;                                        //!< of the first call

    Ptr<CollectiveRuntime> m_runtime;      //!< the fabric's
    weir::CollectiveLoop* m_loop{nullptr}; //!< of the runtime's simulation

    TracedCallback<uint32_t, const weir::CollectivePlan&, weir::Time, weir::Time>
        m_finished; //!< CollectiveFinished trace source
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_JOB_H
