/* SPDX-License-Identifier: BSD-2-Clause */
/* What a thread does at a time, as lanes have colours for it. */
#ifndef PKBPF_EXPORT_PAGE_LANE_KIND_H
#define PKBPF_EXPORT_PAGE_LANE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "finding/wait_class.h"
#include "profile/account/moment_list.h"

/* In the order of the page's LANE_KINDS. */
enum lane_kind {
	LANE_ON_CPU,
	LANE_BETWEEN, /* waits that are not known one by one */
	LANE_RUNQUEUE,
	LANE_LOCK,
	LANE_THREAD, /* another one: a lock, a condition or a queue */
	LANE_DISK,
	LANE_PEER,
	LANE_FAULT,
	LANE_KERNEL, /* D state, not for I/O */
	LANE_SLEEP,
	LANE_STOPPED,
	LANE_GPU, /* asleep; a call that spins is on a CPU */
	LANE_KINDS,
};

/* What a wait is for; its time in the run queue is LANE_RUNQUEUE beside. class: of its stack and
 * state; in_fault: lane_stack_faults(). */
enum lane_kind lane_kind_of_wait(const struct moment *wait, enum wait_class class, bool in_fault);
/* Whether a stack is one of a page fault. */
bool lane_stack_faults(const struct function_table *table, const uint32_t *functions, size_t count);

#endif
