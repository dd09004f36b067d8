// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/traces/collective-names.h"

#include <array>
#include <cctype>
#include <utility>

namespace weir
{

namespace
{

/** The letters and digits of @p name in lower case. */
std::string
Plain(const std::string& name)
{
    std::string plain;
    for (const char c : name)
    {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return plain;
}

} // namespace

bool
SetCallByName(TraceEvent& event, const std::string& name)
{
    // Names that contain another name come first.
    static constexpr std::array<std::pair<const char*, CollectiveOp>, 10> NAMES{
        {{"allreduce", CollectiveOp::AllReduce},
         {"reducescatter", CollectiveOp::ReduceScatter},
         {"allgather", CollectiveOp::AllGather},
         {"alltoall", CollectiveOp::AllToAll},
         {"broadcast", CollectiveOp::Broadcast},
         {"barrier", CollectiveOp::AllReduce},
         {"gather", CollectiveOp::Gather},
         {"scatter", CollectiveOp::Scatter},
         {"sendrecv", CollectiveOp::AllToAll},
         {"reduce", CollectiveOp::Reduce}}};
    const std::string plain = Plain(name);
    for (const auto& [word, op] : NAMES)
    {
        if (plain.find(word) != std::string::npos)
        {
            event.kind = TraceEventKind::Collective;
            event.op = op;
            return true;
        }
    }
    for (const auto& [word, kind] : {std::make_pair("send", TraceEventKind::Send),
                                     std::make_pair("recv", TraceEventKind::Recv)})
    {
        if (plain.find(word) != std::string::npos)
        {
            event.kind = kind;
            return true;
        }
    }
    return false;
}

int64_t
ElementBytes(const std::string& dtype)
{
    static constexpr std::array<std::pair<const char*, int64_t>, 24> SIZES{
        {{"float8", 1},       {"bfloat16", 2}, {"float16", 2}, {"float32", 4}, {"float64", 8},
         {"complexfloat", 8}, {"half", 2},     {"double", 8},  {"float", 4},   {"int64", 8},
         {"int32", 4},        {"int16", 2},    {"int8", 1},    {"longint", 8}, {"long", 8},
         {"shortint", 2},     {"short", 2},    {"bool", 1},    {"byte", 1},    {"char", 1},
         {"bf16", 2},         {"fp16", 2},     {"fp32", 4},    {"int", 4}}};
    const std::string plain = Plain(dtype);
    for (const auto& [word, bytes] : SIZES)
    {
        if (plain.find(word) != std::string::npos)
        {
            return bytes;
        }
    }
    return 0;
}

TimeCategory
CategoryOfGroup(const std::string& name)
{
    static constexpr std::array<std::pair<const char*, TimeCategory>, 11> WORDS{
        {{"expert", TimeCategory::Expert},
         {"epdp", TimeCategory::Data},
         {"ep", TimeCategory::Expert},
         {"embedding", TimeCategory::Pipeline},
         {"tensor", TimeCategory::Tensor},
         {"tp", TimeCategory::Tensor},
         {"modelparallel", TimeCategory::Tensor},
         {"pipeline", TimeCategory::Pipeline},
         {"pp", TimeCategory::Pipeline},
         {"context", TimeCategory::Context},
         {"cp", TimeCategory::Context}}};
    const std::string plain = Plain(name);
    for (const auto& [word, category] : WORDS)
    {
        const std::string text = word;
        if (text.size() > 3 ? plain.find(text) != std::string::npos
                            : plain.compare(0, text.size(), text) == 0)
        {
            return category;
        }
    }
    return TimeCategory::Data;
}

} // namespace weir
