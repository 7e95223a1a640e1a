/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables that the block I/O programs fill, mapped into this process: sized before load, read
 * without system calls, turned into records of what was added since the last time.
 */
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
 * -ENOMEM: the rest comes next time. */
int blockio_tables_drain(struct blockio_tables *tables, struct event_buffer *buffer);
/* After a drain: the largest values of rows are those since now. One that is written at this moment
 * may be told twice. */
void blockio_tables_forget_largest(struct blockio_tables *tables);
/* Numbers of stacks that rows hold; the same one more than once, perhaps. */
void blockio_tables_each_stack(const struct blockio_tables *tables,
			       void (*take)(void *context, uint64_t stack_id), void *context);
/* After the programs are detached and all is drained: appends the requests still in flight, with
 * the time until now, and those that are slow by then also one by one. */
int blockio_tables_drain_open(struct blockio_tables *tables, uint64_t time_ns,
			      struct slow_io_choice *slow, struct event_buffer *buffer);

#endif
