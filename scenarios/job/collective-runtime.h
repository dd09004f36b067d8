// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_COLLECTIVE_RUNTIME_H
#define WEIR_JOB_COLLECTIVE_RUNTIME_H

#include "ns3/fluid-fabric.h"
#include "ns3/object.h"
#include "scenarios/simulation/simulation.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * The simulation of all jobs on a fabric: one planner, so that equal groups are searched once, and
 * one collective engine a fidelity. Aggregated to the FluidFabric it serves.
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
     * Everything that is simulated on the fabric, as the command has it. What is added to it is
     * framed by the driver's Synchronize and Update.
     * @return the simulation
     */
    weir::Simulation& GetSimulation();

  private:
    std::string m_ncclVersion;                      //!< whose constants and choices
    std::unique_ptr<weir::Simulation> m_simulation; //!< of all jobs
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_RUNTIME_H
