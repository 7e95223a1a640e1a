// SPDX-License-Identifier: BSD-2-Clause
#include "base/thread_priority.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nine times the weight of others: enough to come first as long as little is to be done, not enough
 * to keep a CPU. */
#define RAISED_NICE (-10)

static bool change_nice(int from, int to)
{
	id_t thread = (id_t)syscall(SYS_gettid);
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, thread);
	return errno == 0 && nice == from && setpriority(PRIO_PROCESS, thread, to) == 0;
}

bool thread_priority_raise(void)
{
	return change_nice(0, RAISED_NICE);
}

void thread_priority_restore(void)
{
	change_nice(RAISED_NICE, 0);
}
