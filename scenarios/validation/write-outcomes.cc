// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/results/hdf5-table.h"
#include "scenarios/results/result-groups.h"
#include "scenarios/validation/validate.h"
#include "scenarios/yaml/mapped.h"
#include "scenarios/yaml/names.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace weir
{
namespace
{

/** A case and, for a measured collective, its run and the index of its size. */
struct CaseRow
{
    const CaseOutcome* outcome{nullptr};
    const CollectiveOutcome* collective{nullptr};
    std::size_t point{0};
    double busBandwidthFactor{0};

    Bytes Size() const
    {
        return collective->run.sweep.sizes[point];
    }
};

std::vector<CaseRow>
RowsOf(const SuiteOutcome& outcome)
{
    auto rows =
        Mapped<CaseRow>(outcome.cases, [&](const CaseOutcome& one) { return CaseRow{&one}; });
    auto row = rows.begin(); // cases of collectives are their sizes, in order
    for (const CollectiveOutcome& collective : outcome.collectives)
    {
        const auto& sweep = collective.run.sweep;
        const auto ranks = static_cast<uint32_t>(SweepGpus(sweep).size());
        const double factor = BusBandwidthFactor(sweep.op, ranks);
        for (std::size_t i = 0; i < collective.points.size(); i++)
        {
            *row = {row->outcome, &collective, i, factor};
            row++;
        }
    }
    return rows;
}

/** Unit and name of the values of the cases. */
struct Quantity
{
    const char* units; //!< empty: a column states it for each case
    std::string word;
};

Quantity
QuantityOf(const SuiteOutcome& outcome)
{
    const auto ratios = std::count_if(outcome.cases.begin(),
                                      outcome.cases.end(),
                                      [](const CaseOutcome& one) { return one.isRatio; });
    if (ratios == 0)
    {
        return {"s", "time"};
    }
    if (static_cast<std::size_t>(ratios) < outcome.cases.size())
    {
        return {"", "time or slowdown"};
    }
    return {"1", outcome.kind == SuiteKind::Bounds ? "number" : "slowdown"};
}

/** Whether predictions are compared with measurements rather than with Weir's own reference. */
bool
IsMeasured(SuiteKind kind)
{
    return kind == SuiteKind::Steps || kind == SuiteKind::Collectives ||
           kind == SuiteKind::LeftOut || kind == SuiteKind::Kernels || kind == SuiteKind::Flows ||
           kind == SuiteKind::Group;
}

void
WriteCases(Hdf5File& file, const std::string& group, const SuiteOutcome& outcome)
{
    const auto of = [](auto member) {
        return [member](const CaseRow& row) { return std::invoke(member, *row.outcome); };
    };
    Hdf5RowTable<CaseRow> table(file, group, "case_index");
    table.Add({"case", "", "name of the case"}, of(&CaseOutcome::name));
    table.Add({"class", "", "classes of the case, separated by semicolons"},
              [](const CaseRow& row) { return JoinNames(row.outcome->classes, "; "); });
    const Quantity quantity = QuantityOf(outcome);
    if (*quantity.units == '\0')
    {
        table.Add({"unit", "", "unit of measured and predicted"},
                  [](const CaseRow& row) { return row.outcome->isRatio ? "1" : "s"; });
    }
    const std::string measured = IsMeasured(outcome.kind) ? "measured " : "reference ";
    table.Add({"measured", quantity.units, measured + quantity.word}, of(&CaseOutcome::measured));
    table.Add({"predicted", quantity.units, "predicted " + quantity.word},
              of(&CaseOutcome::predicted));
    table.Add({"error", "1", "relative error: predicted / measured - 1"}, of(&CaseOutcome::Error));
    if (!outcome.collectives.empty())
    {
        table.Add({"run", "", "run of nccl-tests"},
                  [](const CaseRow& row) { return row.collective->run.name; });
        table.Add({"collective", "", "operation"},
                  [](const CaseRow& row) { return ToString(row.collective->run.sweep.op); });
        table.Add({"size_bytes", "B", "size as nccl-tests counts it"}, &CaseRow::Size);
        table.Add({"measured_busbw_GBps", "GB s-1", "measured bus bandwidth"},
                  [](const CaseRow& row) {
                      return row.Size().ToDouble() * row.busBandwidthFactor /
                             row.outcome->measured * 1e-9;
                  });
        table.Add({"predicted_busbw_GBps", "GB s-1", "predicted bus bandwidth"},
                  [](const CaseRow& row) {
                      return row.collective->points[row.point].busBandwidth.ToGBps();
                  });
    }
    table.AppendAll(RowsOf(outcome));
}

void
WriteStatements(Hdf5File& file,
                const std::string& group,
                const std::vector<CheckedStatement>& statements)
{
    Hdf5RowTable<CheckedStatement> table(file, group, "statement_index");
    table.Add({"kind", "", "expected, guard or known"},
              [](const auto& each) { return ToString(each.statement.kind); });
    table.Add({"of", "", "error figure with its class, or case"},
              [](const auto& each) { return Title(each.statement); });
    table.Add({"stated", "1", "value that the suite states"},
              [](const auto& each) { return each.statement.stated; });
    table.Add({"found", "1", "value of this run"}, &CheckedStatement::found);
    table.Add({"verdict", "", "verdict of the check"},
              [](const auto& each) { return ToString(each.verdict); });
    table.AppendAll(statements);
}

struct BoundRow
{
    int64_t index{0}; //!< index of the case
    const BoundPoint* point{nullptr};
    const ErrorBound* bound{nullptr};
};

void
WriteBounds(Hdf5File& file, const std::string& group, const BoundAgreement& agreement)
{
    Hdf5RowTable<BoundRow> table(file, group, "bound_index");
    table.Add({"fresh_case", "", "number of the fresh case"}, &BoundRow::index);
    table.Add({"of", "", "bounded quantity: collectives, steps or packets"},
              [](const BoundRow& row) { return ToString(row.point->thing); });
    table.Add({"regime", "", "regime of the bound"},
              [](const BoundRow& row) { return row.bound->regime; });
    table.Add({"bytes", "B", "size of a collective; not a number for a step"},
              [](const BoundRow& row) {
                  const bool hasSize = row.point->bytes > 0;
                  return hasSize ? row.point->bytes : std::numeric_limits<double>::quiet_NaN();
              });
    table.Add({"ratio", "1", "reference time over estimated time"},
              [](const BoundRow& row) { return row.point->ratio; });
    table.Add({"coverage", "1", "nominal coverage"},
              [](const BoundRow& row) { return row.bound->coverage; });
    table.Add({"lower", "1", "lower end of the bound, relative to the estimate"},
              [](const BoundRow& row) { return row.bound->lower; });
    table.Add({"upper", "1", "upper end of the bound, relative to the estimate"},
              [](const BoundRow& row) { return row.bound->upper; });
    for (std::size_t i = 0; i < agreement.points.size(); i++)
    {
        const BoundPoint& point = agreement.points[i];
        for (const ErrorBound& bound : point.bounds)
        {
            table.Append({static_cast<int64_t>(i), &point, &bound});
        }
    }
    table.Finish();
    file.SetAttribute(group, "checked_coverage", agreement.coverage);
}

} // namespace

void
WriteOutcomes(Hdf5File& file, const std::vector<SuiteOutcome>& outcomes)
{
    file.SetAttribute("/",
                      "title",
                      outcomes.size() == 1 ? outcomes.front().title
                                           : std::to_string(outcomes.size()) + " suites");
    WriteVersions(file);
    file.AddGroup("/validation");
    for (const SuiteOutcome& outcome : outcomes)
    {
        const std::string group = "/validation/" + outcome.name;
        WriteCases(file, group, outcome);
        file.SetAttribute(group, "kind", ToString(outcome.kind));
        file.SetAttribute(group, "title", outcome.title);
        file.SetAttribute(group, "citation", outcome.citation);
        file.SetAttribute(group, "url", outcome.url);
        if (!outcome.collectives.empty())
        {
            file.SetAttribute(group, "fidelity", ToString(outcome.fidelity));
        }
        WriteStatements(file, group + "/statements", outcome.statements);
        if (outcome.kind == SuiteKind::Bounds)
        {
            WriteBounds(file, group + "/bounds", outcome.bounds);
        }
    }
}

} // namespace weir
