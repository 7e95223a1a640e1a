// SPDX-License-Identifier: BSD-2-Clause
#include "source/offcpu/lock_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <pkbpf/lock.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/process_memory.h"
#include "process/procfs_status.h"

#define CALL_MAX_BYTES 4096

bool futex_call_parse(const char *text, struct futex_call *ret_call)
{
	unsigned long long words[4];
	long number;

	/* "NUMBER ADDRESS OPERATION VALUE TIMEOUT …", all but the number in hexadecimal digits. */
	if (sscanf(text, "%ld %llx %llx %llx %llx", &number, &words[0], &words[1], &words[2],
		   &words[3]) != 5 ||
	    number != SYS_futex)
		return false;
	*ret_call = (struct futex_call){
		.address = words[0],
		.operation = (uint32_t)words[1],
		.value = (uint32_t)words[2],
		.timeout = words[3],
	};
	return true;
}

static int read_call(uint32_t pid, uint32_t tid, struct futex_call *ret_call)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t size;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", pid, tid);
	err = file_read_all(AT_FDCWD, path, CALL_MAX_BYTES, &text, &size);
	if (err)
		return err;
	return futex_call_parse(text, ret_call) ? 0 : -ENOENT;
}

/* Numbers that the process itself uses. */
static int read_numbers(struct lock_wait *wait)
{
	struct procfs_status status;
	struct stat space;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task", wait->pid);
	if (!procfs_status_read(path, wait->tid, &status))
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%u/ns/pid", wait->pid);
	if (stat(path, &space) < 0)
		return -errno;
	wait->number = status.inner_pid;
	wait->space = space.st_ino;
	return 0;
}

int lock_wait_read(uint32_t pid, uint32_t tid, struct lock_wait *ret_wait)
{
	uint32_t words[PKBPF_LOCK_WORDS];
	struct pkbpf_lock_view view;
	struct futex_call call;
	int err = read_call(pid, tid, &call);

	*ret_wait = (struct lock_wait){.pid = pid, .tid = tid};
	if (err)
		return err;
	if (call.timeout)
		return -ENOENT;
	err = process_memory_read(&pid, call.address, words, sizeof(words));
	if (err)
		return err;
	pkbpf_lock_read(call.address, call.operation, call.value, words, &view);
	/* What looks like musl's may be another program's word. */
	if (!view.owner || view.class == PKBPF_LOCK_MUSL)
		return -ENOENT;
	ret_wait->owner = view.owner;
	ret_wait->class = view.class;
	ret_wait->address = view.address;
	return read_numbers(ret_wait);
}
