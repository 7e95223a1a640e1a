/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the network programs, mapped into this process. They are sized before load, read
 * without system calls, and turned into records of increments. */
#ifndef PKBPF_SOURCE_NETWORK_NETWORK_TABLES_H
#define PKBPF_SOURCE_NETWORK_NETWORK_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/network.h>

#include "base/error.h"
#include "event/encoder.h"

struct pkbpf_bpf;
struct network_tables;

/* Before load: sizes the maps. */
int network_tables_configure(struct pkbpf_bpf *skeleton, struct network_tables **ret_tables,
			     struct error *error);
/* After load: maps them. */
int network_tables_open(struct network_tables *tables, struct error *error);
void network_tables_free(struct network_tables *tables);

/* Appends records of all increments since the last call, with the time at which each was read, and
 * of the peers that they are the first to name. look: servers on this host are looked for in
 * procfs. -ENOMEM: the next call sends the rest. */
int network_tables_drain(struct network_tables *tables, bool look, struct event_buffer *buffer);
/* Restarts the maxima of all rows, after a drain. */
void network_tables_forget_largest(struct network_tables *tables);

#endif
