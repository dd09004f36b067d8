// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/describe/describe-model.h"

#include "scenarios/results/model-flops.h"
#include "scenarios/results/text-table.h"

namespace weir
{

std::string
DescribeModel(const Transformer& model)
{
    const bool gated = model.activation == ActivationKind::SwiGlu;
    const double tokenFlops = ModelFlops(model, 1).ToDouble() / model.sequence;
    const auto count = [](double value) { return FormatFixed(value, 0); };
    TextTable table(2);
    table.Row({"layers", count(model.layers)});
    table.Row({"hidden", count(model.hidden)});
    table.Row({"heads", count(model.heads) + " of " + count(model.headDim)});
    table.Row({"key/value heads", count(model.kvHeads)});
    table.Row({"ffn", count(model.ffn) + (gated ? ", SwiGLU" : ", GELU")});
    table.Row({"norm", model.norm == NormKind::RmsNorm ? "RMSNorm" : "LayerNorm"});
    table.Row({"sequence", count(model.sequence)});
    table.Row(
        {"vocabulary",
         count(model.vocabulary) + (model.tiedEmbeddings ? ", tied with the output layer" : "")});
    table.Row({"positions", model.learnedPositions ? "learned" : "rotary"});
    table.Row({"parameters",
               FormatFixed(model.Parameters() * 1e-9, 3) + " billion, " +
                   FormatFixed(model.LayerParameters() * 1e-6, 1) + " million a layer"});
    table.Row({"training",
               FormatFixed(tokenFlops * 1e-9, 1) +
                   " GFLOP a token (forward and backward, no recomputation)"});
    table.Row({"source", model.source});
    return model.name + "\n" + table.Print(2);
}

} // namespace weir
