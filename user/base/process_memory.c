// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_memory.h"

#include <errno.h>
#include <sys/uio.h>

int process_memory_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {buffer, size};
	/* The address is one of another process. */
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t count =
		process_vm_readv((pid_t) * (const uint32_t *)context, &local, 1, &remote, 1, 0);

	if (count < 0)
		return -errno;
	return (size_t)count == size ? 0 : -EFAULT;
}
