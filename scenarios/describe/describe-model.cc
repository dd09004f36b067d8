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
    if (model.HasExperts())
    {
        const ExpertLayers& moe = model.moe;
        table.Row({"experts",
                   count(moe.experts) + " of ffn " + count(moe.ffn) + ", " + count(moe.topK) +
                       " a token" +
                       (moe.sharedFfn > 0 ? ", and shared ones of " + count(moe.sharedFfn) : "") +
                       ", in " + count(model.ExpertLayersOf(0, model.layers)) + " layers"});
    }
    table.Row({"norm", model.norm == NormKind::RmsNorm ? "RMSNorm" : "LayerNorm"});
    table.Row({"sequence", count(model.sequence)});
    table.Row(
        {"vocabulary",
         count(model.vocabulary) + (model.tiedEmbeddings ? ", tied with the output layer" : "")});
    if (model.predictionHead)
    {
        table.Row({"prediction head", "dense, GELU, norm before the output layer"});
    }
    table.Row({"positions", model.learnedPositions ? "learned" : "rotary"});
    table.Row(
        {"parameters",
         FormatFixed(model.Parameters() * 1e-9, 3) + " billion, " +
             FormatFixed((model.IsExpertLayer(model.layers - 1) ? model.ExpertLayerParameters()
                                                                : model.LayerParameters()) *
                             1e-6,
                         1) +
             " million a layer"});
    table.Row({"training",
               FormatFixed(tokenFlops * 1e-9, 1) +
                   " GFLOP a token (forward and backward, no recomputation)"});
    table.Row({"source", model.source});
    return model.name + "\n" + table.Print(2);
}

namespace
{

/** "64 x 56 x 56" */
std::string
InText(const SampleShape& shape)
{
    return std::to_string(shape.channels) + " x " + std::to_string(shape.height) + " x " +
           std::to_string(shape.width);
}

/** One line a table, and their sum; nothing where there are none. */
std::string
DescribeEmbeddings(const LayerTable& table)
{
    if (table.embeddings.empty())
    {
        return "";
    }
    TextTable lines(2);
    lines.Row({"embedding table", "rows", "width", "rows a sample", "Zipf exponent"});
    for (std::size_t i = 0; i < table.embeddings.size(); i++)
    {
        const EmbeddingTable& one = table.embeddings[i];
        lines.Row({std::to_string(i + 1),
                   std::to_string(one.rows),
                   std::to_string(one.dim),
                   std::to_string(one.pooling),
                   one.classes.empty() ? FormatFixed(one.zipf, 2) : "given classes"});
    }
    return lines.Print(2) + "  all " + std::to_string(table.embeddings.size()) +
           " embedding tables: " + FormatFixed(table.EmbeddingParameters() * 1e-9, 3) +
           " billion parameters\n";
}

} // namespace

std::string
DescribeTable(const LayerTable& table)
{
    TextTable lines(2);
    lines.Row({"layer", "in", "out", "window", "parameters", "MFLOP a sample"});
    for (const TableLayer& layer : table.layers)
    {
        if (layer.Parameters() == 0)
        {
            continue;
        }
        const bool isWindow = layer.op == TableOp::Convolution;
        lines.Row({layer.name,
                   InText(layer.in),
                   InText(layer.out),
                   isWindow ? std::to_string(layer.window.size) + " / " +
                                  std::to_string(layer.window.stride)
                            : "",
                   FormatFixed(layer.Parameters(), 0),
                   FormatFixed(2 * layer.MultiplyAdds() * 1e-6, 1)});
    }
    lines.Row({"all " + std::to_string(table.layers.size()) + " layers",
               "",
               "",
               "",
               FormatFixed(table.Parameters(), 0),
               FormatFixed(2 * table.MultiplyAdds() * 1e-6, 1)});
    return table.name + "\n" + lines.Print(2) + DescribeEmbeddings(table) +
           "  source: " + table.source + "\n";
}

} // namespace weir
