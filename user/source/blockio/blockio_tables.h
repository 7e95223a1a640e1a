/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the block I/O programs, mapped into this process. They are sized before load, read
 * without system calls, and turned into records of increments. */
#ifndef PKBPF_SOURCE_BLOCKIO_BLOCKIO_TABLES_H
#define PKBPF_SOURCE_BLOCKIO_BLOCKIO_TABLES_H

#include <stdint.h>

#include <pkbpf/blockio.h>
#include <pkbpf/config.h>

#include "base/error.h"
#include "event/encoder.h"
#include "source/blockio/slow_io_choice.h"

struct pkbpf_bpf;
struct blockio_tables;

/* Before load: sizes the maps. */
int blockio_tables_configure(struct pkbpf_bpf *skeleton, struct blockio_tables **ret_tables,
			     struct error *error);
/* After load: maps them and fills the lists of free elements. */
int blockio_tables_open(struct blockio_tables *tables, struct error *error);
void blockio_tables_free(struct blockio_tables *tables);

/* Appends records of all increments since the last call, with the time at which each was read.
 * -ENOMEM: the next call sends the rest. */
int blockio_tables_drain(struct blockio_tables *tables, struct event_buffer *buffer);
/* Restarts the maxima of all rows, after a drain. A maximum that is written at this moment may
 * be reported twice. */
void blockio_tables_forget_largest(struct blockio_tables *tables);
/* Passes the ids of the stacks that rows refer to, possibly more than once. */
void blockio_tables_each_stack(const struct blockio_tables *tables,
			       void (*take)(void *context, uint64_t stack_id), void *context);
/* Appends the requests still in flight, with their time until now, and the slow ones also
 * individually. Only after the programs are detached and everything is drained. */
int blockio_tables_drain_open(struct blockio_tables *tables, uint64_t time_ns,
			      struct slow_io_choice *slow, struct event_buffer *buffer);

#endif
