// SPDX-License-Identifier: GPL-2.0-only
#include "scenarios/readers/scenario-names.h"

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
    return {{"intel", HostCpu::Intel}, {"amd", HostCpu::Amd}, {"arm", HostCpu::Arm}};
}

NamedChoices<NetTransport>
TransportNames()
{
    return {{"infiniband", NetTransport::Infiniband},
            {"roce", NetTransport::Roce},
            {"slingshot", NetTransport::Slingshot},
            {"efa", NetTransport::Efa},
            {"tcp", NetTransport::Tcp}};
}

NamedChoices<FabricKind>
FabricKindNames()
{
    return {{"none", FabricKind::None},
            {"rail-optimized", FabricKind::RailOptimized},
            {"leaf-spine", FabricKind::LeafSpine},
            {"fat-tree", FabricKind::FatTree}};
}

NamedChoices<RoutingKind>
RoutingNames()
{
    return {{"static", RoutingKind::Static}, {"ecmp", RoutingKind::Ecmp}};
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
            {"interleaved", PipelineScheduleKind::Interleaved}};
}

NamedChoices<Recomputation>
RecomputationNames()
{
    return {{"none", Recomputation::None},
            {"selective", Recomputation::Selective},
            {"full", Recomputation::Full}};
}

NamedChoices<AttentionKind>
AttentionNames()
{
    return {{"unfused", AttentionKind::Unfused}, {"fused", AttentionKind::Fused}};
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
    return {{"packed", Placement::Packed}};
}

NamedChoices<Fidelity>
FidelityNames()
{
    return {{"analytical", Fidelity::Analytical},
            {"stream", Fidelity::Stream},
            {"flow", Fidelity::Flow}};
}

NamedChoices<EventKind>
EventKindNames()
{
    return {{"degrade", EventKind::Degrade},
            {"link-down", EventKind::LinkDown},
            {"slow-gpu", EventKind::SlowGpu},
            {"background", EventKind::Background}};
}

} // namespace weir
