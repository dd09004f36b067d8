// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
#define WEIR_SCENARIOS_RESULTS_RESULT_FILE_H

#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/record.h"
#include "scenarios/results/recording-spec.h"
#include "scenarios/simulation/run-result.h"

#include <memory>
#include <vector>

namespace weir
{

class Simulation;

/**
 * The result file of a run, HDF5. One dataset per column with `units` and `long_name`, dimension
 * scales, catalogues of text that number columns index (attribute `catalog`):
 *
 *  - /summary: the steady step (StepExecutor::SteadyStep) by job and pipeline stage, and where its
 *    time went
 *  - /steps: every step of every job
 *  - /ranks: by job and rank, the breakdown of the steady step
 *  - /ops, /collectives: of the ranks and groups that Recorder chooses; columns say for how many
 *  - /flows: with their paths in /flow_paths (links and shares by path)
 *  - /links: what each link is, what it carried and, of packets, what happened at its port;
 *    /link_series: bytes per link and time bin, where there were any; /port_series: queue lengths
 *    and pauses of the busiest ports (PortSeries)
 *  - /provenance: the scenario after defaults, mode, seed, versions
 *
 * All but /summary and /ranks cover the time from 0 to the end of the last job, which their
 * attributes `window_start_s` and `window_end_s` say; /flows also has those that end later. A table
 * has at most MAX_ROWS rows, attribute `rows_left_out` counts the others.
 *
 * Written while the run goes, column chunk by column chunk, so memory does not grow with the run.
 * Holds nothing of the machine it ran on: equal scenarios give equal files.
 */
class ResultFile : public RecordSink
{
  public:
    static constexpr std::size_t MAX_ROWS = 1 << 20; //!< about 40 MB in the file

    /** @throws InputError when the file of @p spec, which must outlive it, cannot be written. */
    explicit ResultFile(const RecordingSpec& spec);
    ~ResultFile() override;

    /**
     * Before the first record: what records refer to. @p simulation must outlive the file.
     * @param recorded by job: its recorded ranks
     */
    void Begin(Simulation& simulation, const std::vector<std::vector<Rank>>& recorded);

    /** For tables of their own, before Commit. */
    Hdf5File& GetFile()
    {
        return m_file;
    }

    /** After the last record: writes what is known only now and gives the file its name. */
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

    /** For how many ranks and groups of a job those stand that are recorded. */
    struct Representation;

    const RecordingSpec& m_spec;
    Hdf5File m_file;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Tables> m_tables;
    std::vector<Representation> m_represented; //!< by job
    Time m_portBinWidth;                       //!< of the port series
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
