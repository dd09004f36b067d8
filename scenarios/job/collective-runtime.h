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
 * one collective engine for each fidelity. Aggregated to the FluidFabric it serves.
 */
class CollectiveRuntime : public Object
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    CollectiveRuntime();
    ~CollectiveRuntime() override;

    /**
     * Gets the runtime of a fabric; the first call creates one with default attributes unless one
     * has been installed.
     * @param fabric the fabric, wired
     * @return its runtime
     */
    static Ptr<CollectiveRuntime> Of(Ptr<FluidFabric> fabric);

    /** Makes this the runtime of a fabric. @param fabric the fabric, wired */
    void Install(Ptr<FluidFabric> fabric);

    /**
     * The simulation of everything on the fabric, as the weir command has it. Code that adds to it
     * must call the driver's Synchronize before and Update after.
     * @return the simulation
     */
    weir::Simulation& GetSimulation();

    /**
     * Notes that a RunRecorder begins or ends a recording of the installed jobs.
     * @param isRecorded whether it begins
     */
    void SetRecorded(bool isRecorded);

    /**
     * Ends the program if a recording is in progress, which would miss another job.
     * @param job the kind of job that is being installed
     */
    void CheckUnrecorded(const char* job) const;

  private:
    std::string m_ncclVersion;                      //!< whose constants and choices
    std::unique_ptr<weir::Simulation> m_simulation; //!< of all jobs
    bool m_isRecorded{false};                       //!< a recording is in progress
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_RUNTIME_H
