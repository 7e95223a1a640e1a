// SPDX-License-Identifier: BSD-2-Clause
#include "bench/launched_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file_io.h"

#define FILE_SIZE_MAX (1 << 20)

static char *read_file(pid_t pid, const char *name)
{
	char path[64], *text;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return file_read_all(AT_FDCWD, path, FILE_SIZE_MAX, &text, &size) < 0 ? NULL : text;
}

static bool find_number(const char *text, const char *key, uint64_t *ret_number)
{
	const char *at = strstr(text, key);

	return at && sscanf(at + strlen(key), "%" SCNu64, ret_number) == 1;
}

/* With what its children did, which were added when it waited for them. */
static void read_io(pid_t pid, struct launch_result *result)
{
	char *text = read_file(pid, "io");

	result->io_known = text && find_number(text, "\nread_bytes: ", &result->read_bytes) &&
			   find_number(text, "\nwrite_bytes: ", &result->written_bytes);
	free(text);
}

static void read_delay(pid_t pid, struct launch_result *result)
{
	char *text = read_file(pid, "schedstat");

	result->delay_known = text && sscanf(text, "%" SCNu64 " %" SCNu64, &result->run_ns,
					     &result->run_delay_ns) == 2;
	free(text);
}

void launched_process_read(pid_t pid, struct launch_result *result)
{
	int status = 0;
	pid_t got;

	read_io(pid, result);
	read_delay(pid, result);
	do
		got = wait4(pid, &status, 0, &result->usage);
	while (got < 0 && errno == EINTR);
	result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void launched_usage_add(struct rusage *sum, const struct rusage *more)
{
	timeradd(&sum->ru_utime, &more->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &more->ru_stime, &sum->ru_stime);
	if (more->ru_maxrss > sum->ru_maxrss)
		sum->ru_maxrss = more->ru_maxrss;
	sum->ru_minflt += more->ru_minflt;
	sum->ru_majflt += more->ru_majflt;
	sum->ru_nvcsw += more->ru_nvcsw;
	sum->ru_nivcsw += more->ru_nivcsw;
}

void launched_orphan_reap(pid_t pid, struct launch_result *result)
{
	struct launch_result orphan = {0};
	int status;

	read_io(pid, &orphan);
	if (wait4(pid, &status, WNOHANG, &orphan.usage) != pid || !result)
		return;
	launched_usage_add(&result->usage, &orphan.usage);
	result->io_known = result->io_known && orphan.io_known;
	result->read_bytes += orphan.read_bytes;
	result->written_bytes += orphan.written_bytes;
}

uint32_t launched_children(void)
{
	char name[32], *text;
	uint32_t count = 0;

	snprintf(name, sizeof(name), "task/%d/children", (int)getpid());
	text = read_file(getpid(), name);
	for (char *at = text ? strtok(text, " ") : NULL; at; at = strtok(NULL, " "))
		count++;
	free(text);
	return count ? count : 1; /* the kernel need not tell */
}
