/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of find_peers() that knows what sockets sent and received. */
#ifndef PKBPF_FINDING_FINDING_NETWORK_H
#define PKBPF_FINDING_FINDING_NETWORK_H

#include "finding/analysis.h"
#include "finding/finding.h"
#include "rows/peers.h"

/* Offers the findings of a group's peers. true: it waits for one of them. */
bool find_network(const struct analysis *analysis, const struct activity *activity,
		  const struct peer_rows *rows, struct findings *findings);
/* Of the peers to which a group sends, the one for which it has waited most; NULL: none. */
const struct peer *network_slow_receiver(const struct analysis *analysis,
					 const struct activity *activity,
					 const struct peer_rows *rows);

#endif
