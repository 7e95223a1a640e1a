/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up what the hosts of peers are called. */
#ifndef PKBPF_PROFILE_ACCOUNT_PEER_HOSTS_H
#define PKBPF_PROFILE_ACCOUNT_PEER_HOSTS_H

#include "profile/account/peer_table.h"

/* Asks the system's resolver for the host of each peer, each address once, for limit_ns at most;
 * what has no name, or was not asked for in time, keeps its number. Talks to the network: never
 * while something is recorded. *ret_left: addresses that were not asked for. 0, or -ENOMEM. The
 * owner of the table. */
int peer_hosts_find(struct peer_table *table, uint64_t limit_ns, size_t *ret_left);

#endif
