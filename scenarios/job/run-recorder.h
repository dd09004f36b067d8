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
 * Records a fabric to the result file (HDF5) and the timeline that the weir command writes: the
 * jobs that are already installed, the flows and the links.
 */
class RunRecorder : public Object
{
  public:
    /** Get the type ID. */
    static TypeId GetTypeId();

    RunRecorder();
    ~RunRecorder() override;

    /**
     * Starts recording a fabric. Unwritable files, and jobs installed before the recording ends,
     * end the program with the reason.
     * @param fabric the fabric; its jobs have been installed
     */
    void Install(Ptr<FluidFabric> fabric);

    /**
     * Ends the recording and gives the files their names; bytes that active flows have moved so far
     * are included. Unless this is called, the end of the simulator (Simulator::Destroy) does it.
     * Must not be called from a callback of the engines, such as StepFinished: schedule it instead
     * (Simulator::ScheduleNow).
     */
    void Write();

  protected:
    void DoDispose() override;

  private:
    /**
     * Describes the run as a scenario; what a scenario cannot express goes into its remarks.
     * @param fabric the fabric
     */
    void Describe(Ptr<FluidFabric> fabric);

    /** Describes the training jobs. */
    void DescribeJobs();

    /** Describes the collective jobs. */
    void DescribeCollectives();

    /** Remarks that jobs have GPUs in common; jobs must be described before. */
    void DescribeSharedGpus();

    /**
     * Describes the transport and the fidelity of jobs; jobs must be described before.
     * @param transport of the fabric
     */
    void DescribeTransport(const weir::TransportSpec& transport);

    /**
     * Describes seeds, and applications that send traffic besides the jobs.
     * @param fabric the fabric
     */
    void DescribeProgram(Ptr<FluidFabric> fabric);

    /** Reads the attribute Ranks; jobs must be described before. */
    void ReadRanks();

    std::string m_title;        //!< of the run
    std::string m_file;         //!< HDF5; empty: none
    std::string m_timelineFile; //!< empty: none
    Time m_linkSeries;          //!< width of a bin; 0: no series
    Time m_portSeries;          //!< width of a bin; 0: no series
    std::string m_ranks;        //!< "all", or ranks separated by spaces; empty: no additional ones

    weir::Scenario m_scenario;                       //!< what is run
    Ptr<CollectiveRuntime> m_runtime;                //!< the fabric's
    Ptr<EngineDriver> m_driver;                      //!< the fabric's
    std::unique_ptr<weir::RunRecording> m_recording; //!< in progress; null: not installed
    bool m_written{false};                           //!< whether the recording has ended
};

} // namespace ns3

#endif // WEIR_JOB_RUN_RECORDER_H
