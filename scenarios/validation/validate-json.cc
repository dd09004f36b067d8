// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/validation/validate.h"

#include <nlohmann/json.hpp>

namespace weir
{

namespace
{

using Json = nlohmann::ordered_json;

Json
ToJson(const std::string& name, const ErrorStatistics& errors)
{
    return {{"class", name},
            {"cases", errors.count},
            {"mean", errors.meanAbsolute},
            {"median", errors.median},
            {"p90", errors.p90},
            {"bias", errors.bias}};
}

Json
ToJson(const CheckedStatement& checked)
{
    const SuiteStatement& statement = checked.statement;
    Json object;
    object["class"] = statement.ofClass.empty() ? "all" : statement.ofClass;
    if (!statement.ofCase.empty())
    {
        object["case"] = statement.ofCase;
    }
    object["figure"] = statement.ofCase.empty() ? ToString(statement.figure) : "error";
    object["stated"] = statement.stated;
    object["found"] = checked.found; // null where it is of no case
    object["verdict"] = checked.verdict == StatementVerdict::Met            ? "met"
                        : checked.verdict == StatementVerdict::KnownFailure ? "known"
                                                                            : "broken";
    if (!checked.note.empty())
    {
        object["note"] = checked.note;
    }
    if (!statement.reason.empty())
    {
        object["reason"] = statement.reason;
    }
    return object;
}

Json
ToJson(const CaseOutcome& one)
{
    return {{"case", one.name},
            {"classes", one.classes},
            {"measured_s", one.measured},
            {"predicted_s", one.predicted},
            {"error", one.Error()}};
}

Json
ToJson(const SuiteOutcome& outcome, CaseList list)
{
    Json object{{"name", outcome.name}, {"title", outcome.title}, {"url", outcome.url}};
    object["errors"] = Json::array();
    for (const ClassStatistics& one : outcome.ErrorsByClass())
    {
        object["errors"].push_back(ToJson(one.name, one.errors));
    }
    if (!outcome.IsMixed())
    {
        object["errors"].push_back(ToJson("all", outcome.Errors()));
    }
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        Json& listed = object[ToString(kind)] = Json::array();
        for (const CheckedStatement& each : outcome.statements)
        {
            if (each.statement.kind == kind)
            {
                listed.push_back(ToJson(each));
            }
        }
    }
    for (const StatementKind kind : STATEMENT_KINDS)
    {
        object["met"][ToString(kind)] = IsMet(outcome.statements, kind);
    }
    if (list == CaseList::All)
    {
        object["rows"] = Json::array();
        for (const CaseOutcome& one : outcome.cases)
        {
            object["rows"].push_back(ToJson(one));
        }
    }
    return object;
}

} // namespace

std::string
ToJson(const std::vector<SuiteOutcome>& outcomes, CaseList list)
{
    Json object{{"suites", Json::array()}, {"met", true}};
    for (const SuiteOutcome& outcome : outcomes)
    {
        object["suites"].push_back(ToJson(outcome, list));
        object["met"] = object["met"].get<bool>() && AreMet(outcome.statements);
    }
    return object.dump(2);
}

} // namespace weir
