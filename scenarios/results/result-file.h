// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
#define WEIR_SCENARIOS_RESULTS_RESULT_FILE_H

#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/record.h"
#include "scenarios/results/recorder.h"
#include "scenarios/simulation/run-result.h"

#include <memory>
#include <vector>

namespace weir
{

class Simulation;

/**
 * The HDF5 result file of a run. Each column is a dataset with `units` and `long_name`. Tables have
 * dimension scales; integer columns may index text catalogs (attribute `catalog`):
 *
 *  - /summary: the breakdown of the steady step (StepExecutor::SteadyStep) by job and stage
 *  - /steps: every step of every job
 *  - /ranks: by job and rank, the breakdown of the steady step
 *  - /memory: the memory estimate of each job's fullest pipeline stage
 *  - /ops, /collectives: of the ranks and groups that Recorder selects; the columns `ranks` and
 *    `groups` state how many each represents
 *  - /flows: with their paths in /flow_paths (links and shares by path)
 *  - /links: properties of each link, the bytes it carried and, with packets, the counters of its
 *    port; /link_series: bytes per link and time bin, if any; /port_series: queue lengths and
 *    pauses of the busiest ports (PortSeries)
 *  - /provenance: the scenario after defaults, mode, seed, versions
 *
 * /steps, /ops, /collectives, /flows, /links and the series cover the time from 0 to the end of the
 * last job, given by their attributes `window_start_s` and `window_end_s`; /flows also has flows
 * that end later. /ops, /collectives and /flows have at most MAX_ROWS rows each; the attribute
 * `rows_left_out` counts the others.
 *
 * Chunks of columns are written during the run, so memory does not grow with the run. The file
 * holds no information about the machine it ran on: equal scenarios give identical files.
 */
class ResultFile : public RecordSink
{
  public:
    static constexpr std::size_t MAX_ROWS = 1 << 20; //!< about 40 MB in the file

    /** @throws InputError when the file of @p spec, which must outlive it, cannot be written. */
    explicit ResultFile(const RecordingSpec& spec);
    ~ResultFile() override;

    /**
     * Writes what records refer to; call it before the first record. @p simulation must outlive the
     * file.
     * @param recorded the recorded ranks of each job
     */
    void Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded);

    /** The HDF5 file, for additional tables before Commit. */
    Hdf5File& GetFile()
    {
        return m_file;
    }

    /**
     * Writes the tables that are complete only after the last record and renames the file to its
     * final name.
     */
    void Commit(const RunResult& result);

    void OnOp(const OpRecord& record) override;
    void OnCollective(const CollectiveRecord& record) override;
    void OnCall(const CallRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLinkBin(const LinkBinRecord& record) override;
    void OnPortBin(const PortBinRecord& record) override;
    void OnStep(const StepRecord& record) override;

  private:
    struct Tables;

    /** The number of ranks and groups of a job that each recorded one represents. */
    struct Representation;

    const RecordingSpec& m_spec;
    Hdf5File m_file;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Tables> m_tables;
    std::vector<Representation> m_represented; //!< by job
    Time m_portBinWidth;                       //!< bin width of the port series
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
