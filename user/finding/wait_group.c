// SPDX-License-Identifier: BSD-2-Clause
#include "finding/wait_group.h"

#include <string.h>

static bool is_rule(enum wait_class class, const char *rule)
{
	const char *of_class = wait_class_row(class)->rule;

	return of_class && !strcmp(of_class, rule);
}

enum wait_group wait_group_of_class(enum wait_class class)
{
	switch (class) {
	case WAIT_CLASS_FUTEX:
	case WAIT_CLASS_CONDITION:
	case WAIT_CLASS_SEMAPHORE:
		return WAIT_GROUP_THREAD;
	case WAIT_CLASS_PIPE:
	case WAIT_CLASS_SOCKET:
	case WAIT_CLASS_LOOKUP:
		return WAIT_GROUP_PEER;
	case WAIT_CLASS_DISK:
	case WAIT_CLASS_DIRTY:
		return WAIT_GROUP_DISK;
	case WAIT_CLASS_GPU:
		return WAIT_GROUP_GPU;
	case WAIT_CLASS_SWAP:
		return WAIT_GROUP_SWAP;
	case WAIT_CLASS_KERNEL:
	case WAIT_CLASS_MIGRATION:
		return WAIT_GROUP_KERNEL;
	default:
		break;
	}
	if (is_rule(class, "lock_bound"))
		return WAIT_GROUP_LOCK;
	if (is_rule(class, "peer_bound"))
		return WAIT_GROUP_PEER;
	return is_rule(class, "fsync_bound") ? WAIT_GROUP_DISK : WAIT_GROUP_SLEEP;
}

const char *wait_group_word(enum wait_group group)
{
	static const char *const words[] = {
#define ROW(name, word) [WAIT_GROUP_##name] = (word),
		WAIT_GROUPS(ROW)
#undef ROW
	};

	return words[group];
}
