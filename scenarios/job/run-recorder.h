// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_JOB_RUN_RECORDER_H
#define WEIR_JOB_RUN_RECORDER_H

#include "collective-runtime.h"

#include "ns3/fluid-fabric.h"
#include "ns3/object.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-recording.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * Writes what happens on a fabric to the result file (HDF5) and the timeline that the command's
 * runs write: the jobs that are installed when it is, the flows and the links.
 */
class RunRecorder : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RunRecorder();
    ~RunRecorder() override;

    /**
     * Watches a fabric from now on. What cannot be written ends the program with the reason, and so
     * does a job that is installed before the recording ends.
     * @param fabric the fabric; its jobs have been installed
     */
    void Install(Ptr<FluidFabric> fabric);

    /**
     * Ends the recording now and gives the files their names: what flows under way have moved by
     * now is in them. Unless this is called, the end of the simulator (Simulator::Destroy) does it.
     */
    void Write();

  protected:
    void DoDispose() override;

  private:
    /**
     * What is run, as a scenario has it; what a scenario cannot say is in its remarks.
     * @param fabric the fabric
     */
    void Describe(Ptr<FluidFabric> fabric);

    /** The jobs that train. */
    void DescribeJobs();

    /** The jobs that are collectives. */
    void DescribeCollectives();

    /**
     * How flows move, and in which fidelity jobs follow them; the jobs are described.
     * @param transport of the fabric
     */
    void DescribeTransport(const weir::TransportSpec& transport);

    /**
     * Random numbers, and what sends besides jobs.
     * @param fabric the fabric
     */
    void DescribeProgram(Ptr<FluidFabric> fabric);

    /** Reads the attribute Ranks; the jobs are known. */
    void ReadRanks();

    std::string m_title;        //!< of the run
    std::string m_file;         //!< HDF5; empty: none
    std::string m_timelineFile; //!< empty: none
    Time m_linkSeries;          //!< width of a bin; 0: no series
    Time m_portSeries;          //!< width of a bin; 0: no series
    std::string m_ranks;        //!< "all", or ranks with spaces between them; empty: none more

    weir::Scenario m_scenario;                       //!< what is run
    Ptr<CollectiveRuntime> m_runtime;                //!< the fabric's
    Ptr<EngineDriver> m_driver;                      //!< the fabric's
    std::unique_ptr<weir::RunRecording> m_recording; //!< under way; null: not installed
    bool m_written{false};                           //!< whether it has ended
};

} // namespace ns3

#endif // WEIR_JOB_RUN_RECORDER_H
