// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_COLLECTIVE_RUNTIME_H
#define WEIR_JOB_COLLECTIVE_RUNTIME_H

#include "collectives/engines/collective-engine.h"
#include "collectives/fidelity.h"
#include "collectives/planner.h"
#include "ns3/fluid-fabric.h"
#include "ns3/object.h"

#include <array>
#include <memory>
#include <string>

namespace ns3
{

/**
 * What all jobs on a fabric share to communicate: one planner, so that equal groups are searched
 * once, and one collective engine a fidelity. Aggregated to the FluidFabric it serves.
 */
class CollectiveRuntime : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    CollectiveRuntime();
    ~CollectiveRuntime() override;

    /**
     * The runtime of a fabric; made with the attributes' default values at the first call, unless
     * one has been installed.
     * @param fabric the fabric, wired
     * @return its runtime
     */
    static Ptr<CollectiveRuntime> Of(Ptr<FluidFabric> fabric);

    /**
     * Makes this the runtime of a fabric.
     * @param fabric the fabric, wired
     */
    void Install(Ptr<FluidFabric> fabric);

    /**
     * The planner.
     * @return the planner
     */
    weir::Planner& GetPlanner();

    /**
     * The engine of a fidelity; made, and given to the fabric's driver, at the first call.
     * @param fidelity the fidelity
     * @return the engine
     */
    weir::CollectiveEngine& GetEngine(weir::Fidelity fidelity);

  private:
    static constexpr std::size_t FIDELITIES = 3; //!< analytical, stream, flow

    std::string m_ncclVersion;                //!< whose constants and choices
    FluidFabric* m_fabric{nullptr};           //!< what it is aggregated to
    std::unique_ptr<weir::Planner> m_planner; //!< of all jobs
    std::array<std::unique_ptr<weir::CollectiveEngine>, FIDELITIES> m_engines; //!< by fidelity
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_RUNTIME_H
