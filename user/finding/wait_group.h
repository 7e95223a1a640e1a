/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of waits by what has to happen for them to end, for pictures and for programs that read
 * reports. */
#ifndef PKBPF_FINDING_WAIT_GROUP_H
#define PKBPF_FINDING_WAIT_GROUP_H

#include "finding/wait_class.h"

/* ROW(name, word): words are keys of reports. */
#define WAIT_GROUPS(ROW)                                                                           \
	ROW(SLEEP, "sleep")                                                                        \
	ROW(LOCK, "lock")                                                                          \
	ROW(THREAD, "thread") /* another one: a lock, a condition or a queue */                    \
	ROW(DISK, "disk")                                                                          \
	ROW(PEER, "peer")                                                                          \
	ROW(SWAP, "swap")                                                                          \
	ROW(KERNEL, "kernel") /* D state, not for I/O */                                           \
	ROW(GPU, "gpu")

enum wait_group {
#define ROW(name, word) WAIT_GROUP_##name,
	WAIT_GROUPS(ROW)
#undef ROW
		WAIT_GROUP_COUNT
};

enum wait_group wait_group_of_class(enum wait_class class);
const char *wait_group_word(enum wait_group group);

#endif
