/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the sums of calls by stack, and makes records of them. */
#ifndef PKBPF_SOURCE_REGIONS_REGION_CALLERS_H
#define PKBPF_SOURCE_REGIONS_REGION_CALLERS_H

#include <stdint.h>

#include <pkbpf/span.h>

#include "event/encoder.h"
#include "source/source.h"

/* Entries of the table; those of two epochs are there at one time. */
#define REGION_CALLERS_MAX 32768U

/* Takes the entries out whose epoch is before `until`: nothing adds to them any more. Appends a
 * record for each. -ENOMEM: what is missing waits for the next call. */
int region_callers_drain(int map_fd, uint32_t until, uint64_t now_ns, struct event_buffer *buffer);
/* Ids of the stacks of all entries. */
void region_callers_each_stack(int map_fd, source_stack_fn *take, void *context);

#endif
