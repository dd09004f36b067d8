// SPDX-License-Identifier: GPL-2.0-only
#ifndef WEIR_FABRIC_TRANSPORT_H
#define WEIR_FABRIC_TRANSPORT_H

#include "fabric/ids.h"
#include "fabric/transport/passive-engine.h"
#include "fabric/units.h"

#include <cstdint>

namespace weir
{

/** Whoever started a transfer and is told when it is done. */
class TransferClient
{
  public:
    virtual ~TransferClient() = default;

    /** The last byte of the transfer has passed, at @p now. May start new transfers. */
    virtual void OnTransferDone(uint64_t token, Time now) = 0;
};

/** Names a transfer while it is under way; its value is never used again in one run. */
struct TransferId
{
    uint64_t value{0};

    friend bool operator==(TransferId a, TransferId b)
    {
        return a.value == b.value;
    }
};

/** Bytes to be moved along a path. */
struct TransferRequest
{
    PathId path;                //!< of the transport's PathTable; the empty path is unconstrained
    Bytes bytes;                //!< what crosses the wire; zero is allowed
    Time latency;               //!< start-up delay: the transfer takes its share from then on
    Rate cap{Rate::Infinite()}; //!< upper limit of its rate
    double weight{1};           //!< of its share; k equal flows are one of weight k
    TransferClient* client{nullptr}; //!< told at the end; null for background traffic
    uint64_t token{0};               //!< handed back to the client
};

/** What a link has carried since the start of the run. */
struct LinkUsage
{
    double bytes{0}; //!< bytes carried
    Time busy;       //!< time with any traffic
    Time saturated;  //!< time with its full rate in use (to 1e-9)
};

/** Sees what happens on a transport; used by trace sources, the recorder and link time series. */
class TransportObserver
{
  public:
    virtual ~TransportObserver() = default;

    virtual void OnTransferStarted(TransferId id, const TransferRequest& request, Time now)
    {
    }

    virtual void OnTransferFinished(TransferId id,
                                    const TransferRequest& request,
                                    Time started,
                                    Time now)
    {
    }

    /** The total rate on a link changed (after the solve of that instant). */
    virtual void OnLinkRate(LinkId link, Rate rate, Time now)
    {
    }
};

/**
 * The contract of whatever moves bytes: fluid here, packets elsewhere. A transfer alone takes its
 * latency plus bytes over the bottleneck's rate.
 */
class Transport : public PassiveEngine
{
  public:
    /**
     * Begins a transfer at @p now.
     * @throws std::invalid_argument on a negative size, a latency that is negative or infinite, a
     *         weight or cap that is not positive, or a path that does not exist.
     */
    virtual TransferId Start(const TransferRequest& request, Time now) = 0;

    /** Gives a link another rate from @p now on; zero means down (its flows stand still). */
    virtual void SetLinkRate(LinkId link, Rate rate, Time now) = 0;

    /** Moves the rest of a transfer to another path. @return false when it is already done. */
    virtual bool SetPath(TransferId id, PathId path, Time now) = 0;

    /** Ends a transfer early, without telling its client. @return false when already done. */
    virtual bool Cancel(TransferId id, Time now) = 0;

    /** The rate a transfer has now: zero in its start-up delay or when done. */
    virtual Rate CurrentRate(TransferId id) = 0;

    /** What a link carries now. */
    virtual Rate CurrentLinkRate(LinkId link) = 0;

    virtual LinkUsage GetLinkUsage(LinkId link) = 0;

    /** Transfers under way (including those in their start-up delay). */
    virtual std::size_t ActiveTransfers() const = 0;

    /** Observer of everything from now on; null for none. Rates are only computed if asked for. */
    virtual void SetObserver(TransportObserver* observer, bool linkRates) = 0;
};

} // namespace weir

#endif // WEIR_FABRIC_TRANSPORT_H
