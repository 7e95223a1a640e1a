// SPDX-License-Identifier: BSD-2-Clause
/* Colours of waits: a state of the kernel, divided by what the stack tells. */
#include "export/page/lane_kind.h"

#include <string.h>

#include "base/array.h"
#include "finding/wait_group.h"

static enum lane_kind kind_of_class(enum wait_class class)
{
	static const enum lane_kind kinds[WAIT_GROUP_COUNT] = {
		[WAIT_GROUP_SLEEP] = LANE_SLEEP,   [WAIT_GROUP_LOCK] = LANE_LOCK,
		[WAIT_GROUP_THREAD] = LANE_THREAD, [WAIT_GROUP_DISK] = LANE_DISK,
		[WAIT_GROUP_PEER] = LANE_PEER,	   [WAIT_GROUP_SWAP] = LANE_FAULT,
		[WAIT_GROUP_KERNEL] = LANE_KERNEL, [WAIT_GROUP_GPU] = LANE_GPU,
	};

	return kinds[wait_group_of_class(class)];
}

enum lane_kind lane_kind_of_wait(const struct moment *wait, enum wait_class class, bool in_fault)
{
	enum lane_kind kind = kind_of_class(class);

	switch (wait->state) {
	case PKBPF_WAIT_RUNQUEUE:
		return LANE_RUNQUEUE;
	case PKBPF_WAIT_STOPPED:
		return LANE_STOPPED;
	case PKBPF_WAIT_DISK:
		return in_fault ? LANE_FAULT : LANE_DISK;
	case PKBPF_WAIT_UNINTERRUPTIBLE:
		if (in_fault)
			return LANE_FAULT;
		return kind == LANE_SLEEP ? LANE_KERNEL : kind;
	default:
		/* A futex whose holder is known is a lock, whatever the functions are called. */
		return wait->owner ? LANE_LOCK : kind;
	}
}

bool lane_stack_faults(const struct function_table *table, const uint32_t *functions, size_t count)
{
	static const char *const names[] = {
		"asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault",
		"handle_mm_fault",    "do_page_fault",	"__do_page_fault",
	};

	for (size_t i = 0; i < count; i++) {
		const struct function *function = function_table_get(table, functions[i]);

		for (size_t name = 0; name < ARRAY_SIZE(names); name++)
			if (function->mark == FUNCTION_KERNEL &&
			    !strcmp(function->name, names[name]))
				return true;
	}
	return false;
}
