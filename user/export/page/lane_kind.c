// SPDX-License-Identifier: BSD-2-Clause
/* Colours of waits: a state of the kernel, divided by what the stack tells. */
#include "export/page/lane_kind.h"

#include <string.h>

#include "base/array.h"

static bool is_rule(enum wait_class class, const char *rule)
{
	const char *of_class = wait_class_row(class)->rule;

	return of_class && !strcmp(of_class, rule);
}

static enum lane_kind kind_of_class(enum wait_class class)
{
	switch (class) {
	case WAIT_CLASS_FUTEX:
	case WAIT_CLASS_CONDITION:
	case WAIT_CLASS_SEMAPHORE:
		return LANE_THREAD;
	case WAIT_CLASS_PIPE:
	case WAIT_CLASS_SOCKET:
	case WAIT_CLASS_LOOKUP:
		return LANE_PEER;
	case WAIT_CLASS_DISK:
	case WAIT_CLASS_DIRTY:
		return LANE_DISK;
	case WAIT_CLASS_GPU:
		return LANE_GPU;
	case WAIT_CLASS_SWAP:
		return LANE_FAULT;
	case WAIT_CLASS_KERNEL:
	case WAIT_CLASS_MIGRATION:
		return LANE_KERNEL;
	default:
		break;
	}
	if (is_rule(class, "lock_bound"))
		return LANE_LOCK;
	if (is_rule(class, "peer_bound"))
		return LANE_PEER;
	return is_rule(class, "fsync_bound") ? LANE_DISK : LANE_SLEEP;
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
