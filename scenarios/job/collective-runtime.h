// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_COLLECTIVE_RUNTIME_H
#define WEIR_JOB_COLLECTIVE_RUNTIME_H

#include "ns3/fluid-fabric.h"
#include "ns3/object.h"
#include "scenarios/simulation/simulation.h"

#include <memory>
#include <string>
#include <vector>

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

    /**
     * The next collective of the simulation has been added.
     * @param start when its first call begins
     */
    void NoteStart(weir::Time start);

    /**
     * When the first call of a collective begins.
     * @param collective its number among those of the simulation
     * @return the time
     */
    weir::Time GetStart(std::size_t collective) const;

    /**
     * A RunRecorder begins or ends a recording of the jobs that there are.
     * @param isRecorded whether it begins
     */
    void SetRecorded(bool isRecorded);

    /**
     * Ends the program while a recording is under way, which would not hold another job.
     * @param job what is being installed
     */
    void CheckUnrecorded(const char* job) const;

  private:
    std::string m_ncclVersion;                      //!< whose constants and choices
    std::unique_ptr<weir::Simulation> m_simulation; //!< of all jobs
    std::vector<weir::Time> m_starts;               //!< by collective
    bool m_isRecorded{false};                       //!< a recording is under way
};

} // namespace ns3

#endif // WEIR_JOB_COLLECTIVE_RUNTIME_H
