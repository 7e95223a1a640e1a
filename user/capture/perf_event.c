// SPDX-License-Identifier: BSD-2-Clause
/* Opens perf events and explains the kernel's refusals. */
#include "capture/perf_event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"

static int explain(int errnum, uint32_t cpu, struct error *error)
{
	switch (errnum) {
	case EPERM:
	case EACCES:
		return error_set(error, errnum,
				 "cannot open a perf event on CPU %u: %s; run as root, or with "
				 "CAP_PERFMON (CAP_SYS_ADMIN "
				 "where sysctl kernel.perf_event_paranoid is 3)",
				 cpu, strerror(errnum));
	case EMFILE:
		return error_set(error, errnum,
				 "cannot open a perf event on CPU %u: too many open files; raise "
				 "the limit (ulimit -n)",
				 cpu);
	case ENOSYS:
		return error_set(error, ENOTSUP,
				 "cannot open a perf event: this kernel lacks CONFIG_PERF_EVENTS; "
				 "use another kernel");
	default:
		return error_set(error, errnum, "cannot open a perf event on CPU %u: %s", cpu,
				 strerror(errnum));
	}
}

int perf_event_open_cpu(const struct perf_event_attr *attr, uint32_t cpu, struct error *error)
{
	struct perf_event_attr copy = *attr;
	long fd = syscall(SYS_perf_event_open, &copy, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 ? (int)fd : explain(errno, cpu, error);
}

void perf_event_cpu_attr(uint32_t frequency_hz, int hardware, struct perf_event_attr *ret_attr)
{
	*ret_attr = (struct perf_event_attr){
		.size = sizeof(*ret_attr),
		.type = hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = hardware ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency_hz,
	};
}

uint64_t perf_event_period_ns(const struct perf_event_attr *attr)
{
	const uint64_t least_ns = 10000; /* perf_swevent_hrtimer() */
	uint64_t period_ns;

	if (attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_CPU_CLOCK ||
	    !attr->freq || !attr->sample_freq)
		return 0;
	/* perf_swevent_init_hrtimer(): the period is fixed; the kernel does not adjust it. */
	period_ns = 1000000000ULL / attr->sample_freq;
	return period_ns > least_ns ? period_ns : least_ns;
}

uint64_t perf_event_max_sample_rate(void)
{
	_cleanup_free_ char *text = NULL;
	size_t size;

	if (file_read_all(AT_FDCWD, "/proc/sys/kernel/perf_event_max_sample_rate", 64, &text,
			  &size))
		return 0;
	return strtoull(text, NULL, 10);
}
