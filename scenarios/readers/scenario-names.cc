// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/scenario-names.h"

#include "fabric/topology/link-profile.h"

namespace weir
{

NamedChoices<NvLinkWiring>
WiringNames()
{
    return {{"none", NvLinkWiring::None},
            {"switched", NvLinkWiring::Switched},
            {"mesh", NvLinkWiring::Mesh}};
}

NamedChoices<HostCpu>
HostCpuNames()
{
    return ChoicesUpTo(HostCpu::Power);
}

NamedChoices<NetTransport>
TransportNames()
{
    NamedChoices<NetTransport> names;
    for (const NetTransportTraits& traits : NetTransports())
    {
        names.emplace_back(traits.name, traits.transport);
    }
    return names;
}

NamedChoices<NormKind>
NormNames()
{
    return {{"layernorm", NormKind::LayerNorm}, {"rmsnorm", NormKind::RmsNorm}};
}

NamedChoices<ActivationKind>
ActivationNames()
{
    return {{"gelu", ActivationKind::Gelu}, {"swiglu", ActivationKind::SwiGlu}};
}

NamedChoices<PipelineScheduleKind>
ScheduleNames()
{
    return {{"1f1b", PipelineScheduleKind::OneForwardOneBackward},
            {"interleaved", PipelineScheduleKind::Interleaved},
            {"gpipe", PipelineScheduleKind::GPipe},
            {"zb-h1", PipelineScheduleKind::ZeroBubbleH1},
            {"zb-1p", PipelineScheduleKind::ZeroBubble1p},
            {"zb-2p", PipelineScheduleKind::ZeroBubble2p}};
}

NamedChoices<Recomputation>
RecomputationNames()
{
    return {{"none", Recomputation::None},
            {"selective", Recomputation::Selective},
            {"full", Recomputation::Full},
            {"needed", Recomputation::Needed},
            {"operators", Recomputation::Operators}};
}

NamedChoices<TableOp>
TableOpNames()
{
    return {{"convolution", TableOp::Convolution},
            {"linear", TableOp::Linear},
            {"batchNorm", TableOp::BatchNorm},
            {"relu", TableOp::Relu},
            {"maxPool", TableOp::MaxPool},
            {"averagePool", TableOp::AveragePool},
            {"add", TableOp::Add},
            {"dropout", TableOp::Dropout},
            {"embeddings", TableOp::Embeddings},
            {"dot", TableOp::DotInteraction},
            {"cross", TableOp::Cross},
            {"loss", TableOp::Loss}};
}

NamedChoices<GemmLayout>
GemmLayoutNames()
{
    return {{"tn", GemmLayout::Tn}, {"nn", GemmLayout::Nn}, {"nt", GemmLayout::Nt}};
}

NamedChoices<MemoryKernel>
MemoryKernelNames()
{
    return ChoicesUpTo(static_cast<MemoryKernel>(MEMORY_KERNEL_COUNT - 1));
}

NamedChoices<Precision>
PrecisionNames()
{
    return {{"fp32", Precision::Fp32},
            {"tf32", Precision::Tf32},
            {"fp16", Precision::Fp16},
            {"bf16", Precision::Bf16},
            {"fp8", Precision::Fp8}};
}

NamedChoices<Placement>
PlacementNames()
{
    return {{"packed", Placement::Packed},
            {"strided", Placement::Strided},
            {"random", Placement::Random},
            {"across-leaves", Placement::AcrossLeaves}};
}

NamedChoices<JitterScope>
JitterScopeNames()
{
    return ChoicesUpTo(JitterScope::Operation);
}

NamedChoices<Fidelity>
FidelityNames()
{
    return ChoicesUpTo(Fidelity::Auto);
}

NamedChoices<Algorithm>
CalledAlgorithms()
{
    NamedChoices<Algorithm> choices = ChoicesUpTo(LAST_ALGORITHM);
    choices.erase(choices.begin() + static_cast<std::ptrdiff_t>(Algorithm::Imported));
    return choices;
}

NamedChoices<TrafficKind>
TrafficKindNames()
{
    return ChoicesUpTo(TrafficKind::OnOff);
}

NamedChoices<bool>
SpanNames()
{
    return {{"exponential", false}, {"fixed", true}};
}

NamedChoices<EventKind>
EventKindNames()
{
    return {{"degrade", EventKind::Degrade},
            {"lossy-link", EventKind::LossyLink},
            {"link-down", EventKind::LinkDown},
            {"link-up", EventKind::LinkUp},
            {"link-flap", EventKind::Flap},
            {"random-failures", EventKind::Failures},
            {"slow-gpu", EventKind::SlowGpu},
            {"background", EventKind::Background}};
}

} // namespace weir
