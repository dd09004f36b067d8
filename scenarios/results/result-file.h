// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
#define WEIR_SCENARIOS_RESULTS_RESULT_FILE_H

#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/record.h"
#include "scenarios/scenario.h"
#include "scenarios/simulation/run-result.h"

#include <memory>
#include <string>

namespace weir
{

class Simulation;

/**
 * The result file of a run, HDF5. One dataset per column with `units` and `long_name`, dimension
 * scales, catalogues of text that number columns index (attribute `catalog`):
 *
 *  - /summary: the steady step (StepExecutor::SteadyStep) by job and pipeline stage, and where its
 * time went
 *  - /steps: every step of every job
 *  - /ranks: by job and rank, the breakdown of the steady step
 *  - /ops, /collectives: of one step, as Recorder chooses it and them
 *  - /flows: of that step, with their paths in /flow_paths (link lists by path); at most
 *    MAX_FLOWS, attribute `rows_left_out` counts the others
 *  - /links: what each link is and what it carried; /link_series: bytes per link and time bin,
 * where there were any
 *  - /provenance: the scenario after defaults, mode, seed, versions
 *
 * Written while the run goes, column chunk by column chunk, so memory does not grow with the run.
 * Holds nothing of the machine it ran on: equal scenarios give equal files.
 */
class ResultFile : public RecordSink
{
  public:
    static constexpr std::size_t MAX_FLOWS = 250000; //!< about 10 MB in the file

    /** @throws InputError when @p scenario.output.file cannot be written. */
    explicit ResultFile(const Scenario& scenario);
    ~ResultFile() override;

    /** Before the first record: what records refer to. @p simulation must outlive the file. */
    void Begin(Simulation& simulation);

    /** After the last record: writes what is known only now and gives the file its name. */
    void Commit(const RunResult& result, Time end);

    void OnOp(const OpRecord& record) override;
    void OnCollective(const CollectiveRecord& record) override;
    void OnFlow(const FlowRecord& record) override;
    void OnLinkBin(const LinkBinRecord& record) override;
    void OnStep(const StepRecord& record) override;

  private:
    struct Tables;

    const Scenario& m_scenario;
    Hdf5File m_file;
    Simulation* m_simulation{nullptr};
    std::unique_ptr<Tables> m_tables;
};

} // namespace weir

#endif // WEIR_SCENARIOS_RESULTS_RESULT_FILE_H
