// SPDX-License-Identifier: GPL-2.0-only
#include "fabric/transport/packet/congestion/congestion-control.h"

#include "fabric/transport/packet/congestion/dcqcn.h"
#include "fabric/transport/packet/congestion/dctcp.h"
#include "fabric/transport/packet/congestion/hpcc.h"
#include "fabric/transport/packet/congestion/infiniband.h"
#include "fabric/transport/packet/congestion/no-congestion-control.h"
#include "fabric/transport/packet/congestion/nscc.h"
#include "fabric/transport/packet/congestion/power-tcp.h"
#include "fabric/transport/packet/congestion/rccc.h"
#include "fabric/transport/packet/congestion/static-window.h"
#include "fabric/transport/packet/congestion/swift.h"
#include "fabric/transport/packet/congestion/timely.h"

namespace weir
{

CongestionControlRegistry
CongestionControls()
{
    CongestionControlRegistry controls;
    controls.Add(NoCongestionControl());
    controls.Add(StaticWindow());
    controls.Add(Dcqcn());
    controls.Add(Dctcp());
    controls.Add(Hpcc());
    controls.Add(PowerTcp());
    controls.Add(Timely());
    controls.Add(Swift());
    controls.Add(Nscc());
    controls.Add(Rccc());
    controls.Add(Infiniband());
    return controls;
}

} // namespace weir
