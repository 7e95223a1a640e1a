// SPDX-License-Identifier: BSD-2-Clause
/* Names of the wait states. */
#include "profile/account/wait_state.h"

#include "base/array.h"

const char *wait_state_name(uint8_t state)
{
	static const char *const names[] = {
		[PKBPF_WAIT_NONE] = "on-cpu",
		[PKBPF_WAIT_RUNQUEUE] = "runqueue",
		[PKBPF_WAIT_SLEEP] = "sleep",
		[PKBPF_WAIT_DISK] = "disk",
		[PKBPF_WAIT_UNINTERRUPTIBLE] = "uninterruptible",
		[PKBPF_WAIT_STOPPED] = "stopped",
	};

	_Static_assert(ARRAY_SIZE(names) == PKBPF_WAIT_STATES, "a name for every state");
	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}
