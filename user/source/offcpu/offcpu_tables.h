/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the off-CPU programs, mapped into this process. They are sized before load, read
 * without system calls, and turned into records of increments. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_TABLES_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/config.h>
#include <pkbpf/offcpu.h>

#include "base/error.h"
#include "event/encoder.h"

struct pkbpf_bpf;
struct offcpu_tables;

/* Capacity of the stack cache for the number of threads on this machine. */
uint32_t offcpu_tables_cached_stacks(void);
/* Sizes the maps for the number of threads on this machine, and for the memory that all of the
 * capture may take (0: no limit). Only before load. */
int offcpu_tables_configure(struct pkbpf_bpf *skeleton, uint64_t max_memory_bytes,
			    struct offcpu_tables **ret_tables, struct error *error);
/* After load: maps them and fills the lists of free elements. */
int offcpu_tables_open(struct offcpu_tables *tables, struct error *error);
void offcpu_tables_free(struct offcpu_tables *tables);

/* Appends records of all increments since the last call, with the time at which each was read.
 * -ENOMEM: the next call sends the rest. */
int offcpu_tables_drain(struct offcpu_tables *tables, struct event_buffer *buffer);
/* The same at the end of a slice: waits in flight are included up to until_ns, and maxima
 * restart. */
int offcpu_tables_cut(struct offcpu_tables *tables, uint64_t until_ns, struct event_buffer *buffer);
/* Completes the totals of threads that the task iterator missed because they were leaving their
 * last CPU. Only after the end of the interval, when the programs no longer write. */
void offcpu_tables_close(struct offcpu_tables *tables, uint64_t end_ns);
/* Sends the account of each thread that ends, and of all at the end, as an event of its own. */
void offcpu_tables_trace(struct offcpu_tables *tables);
/* From now on, only a sample of the waits has stacks. Rows are scaled so that those of a process
 * and state add up to the true waiting time of its threads. */
void offcpu_tables_set_sampled(struct offcpu_tables *tables);
bool offcpu_tables_are_sampled(const struct offcpu_tables *tables);
/* The slot of a thread; NULL: none. Read-only: the kernel side writes to it at any time. */
const volatile struct pkbpf_thread *offcpu_tables_thread(const struct offcpu_tables *tables,
							 uint32_t tid);
/* Passes the stack ids of waits in flight, rows and cached stacks. Ids may repeat or be
 * outdated. */
void offcpu_tables_each_stack(const struct offcpu_tables *tables,
			      void (*take)(void *context, uint64_t stack_id), void *context);

#endif
