/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables that the off-CPU programs fill, mapped into this process: sized before load, read
 * without system calls, turned into records of what was added since the last time.
 */
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

/* Size of the cache of stacks for the number of threads of this machine. */
uint32_t offcpu_tables_cached_stacks(void);
/* Before load: sizes the maps after the number of threads of this machine. */
int offcpu_tables_configure(struct pkbpf_bpf *skeleton, struct offcpu_tables **ret_tables,
			    struct error *error);
/* After load: maps them and fills the lists of free elements. */
int offcpu_tables_open(struct offcpu_tables *tables, struct error *error);
void offcpu_tables_free(struct offcpu_tables *tables);

/* Appends records of all increments since the last call, with the time at which each was read.
 * -ENOMEM: the rest comes next time. */
int offcpu_tables_drain(struct offcpu_tables *tables, struct event_buffer *buffer);
/* The same at the end of a slice: of what lasts on, with the part until then. The largest values
 * are those since now. */
int offcpu_tables_cut(struct offcpu_tables *tables, uint64_t until_ns, struct event_buffer *buffer);
/* After the end of the interval, when the programs no longer write: closes the accounts of threads
 * that the task iterator no longer knew, since they were leaving their last CPU. */
void offcpu_tables_close(struct offcpu_tables *tables, uint64_t end_ns);
/* Stacks are taken of a sample of the waits from now on: rows are scaled so that those of a process
 * and state add up to what its threads really waited. */
void offcpu_tables_set_sampled(struct offcpu_tables *tables);
bool offcpu_tables_are_sampled(const struct offcpu_tables *tables);
/* The slot of a thread, NULL: it has none. Read-only; the kernel side writes it at any time. */
const volatile struct pkbpf_thread *offcpu_tables_thread(const struct offcpu_tables *tables,
							 uint32_t tid);
/* Numbers of stacks that waits in flight, rows and remembered stacks hold; the same one more than
 * once, perhaps, and old ones. */
void offcpu_tables_each_stack(const struct offcpu_tables *tables,
			      void (*take)(void *context, uint64_t stack_id), void *context);

#endif
