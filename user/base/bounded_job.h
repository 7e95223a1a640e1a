/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs what may never return, such as the opening of a file whose server is dead, in a process of
 * its own that is left behind when it does not answer in time. A thread would not do: it may not
 * even be possible to kill one that waits for such a server, and a program cannot exit before all
 * of its threads have.
 */
#ifndef PKBPF_BASE_BOUNDED_JOB_H
#define PKBPF_BASE_BOUNDED_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bounded_job {
	/* Called in a copy of this process that has no other threads and no descriptors but
	 * kept_fd: what it writes to memory, beyond the result, is lost. Returns 0 or above, or
	 * negative errno. */
	int (*run)(void *context, void *result);
	void *context;
	/* of result_size bytes, at most 1024; copied back. NULL: the return value is all */
	void *result;
	size_t result_size;
	int kept_fd;	   /* -1: none. As long as this file grows, the job goes on */
	uint64_t quiet_ns; /* it is given up when it has shown no such progress for so long, */
	uint64_t limit_ns; /* and in any case after this */
};

/* What run() has returned. -ETIMEDOUT: given up; *ret_left is the process that was killed and may
 * end one day. -EIO: it ended without an answer. -EAGAIN, -ENOMEM, -EMFILE…: there was no process
 * to be had. */
int bounded_job_run(const struct bounded_job *job, pid_t *ret_left);
/* Whether a process that was left behind exited. To be asked until it has: nobody else takes
 * note of its end. */
bool bounded_job_has_ended(pid_t left);

#endif
