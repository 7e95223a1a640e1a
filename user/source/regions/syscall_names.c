// SPDX-License-Identifier: BSD-2-Clause
/* The names are those of the header that the compiler has (see CMakeLists.txt). */
#include "source/regions/syscall_names.h"

#include <asm/unistd.h>
#include <fnmatch.h>

#include <pkbpf/syscall_sites.h>

#include "base/array.h"

static const char *const names[] = {
#include "syscall_names.inc"
};

const char *syscall_name(uint32_t number)
{
	return number < ARRAY_SIZE(names) && number < PKBPF_SYSCALLS ? names[number] : NULL;
}

size_t syscall_match_count(const char *glob)
{
	size_t count = 0;

	for (uint32_t i = 0; i < PKBPF_SYSCALLS; i++)
		count += syscall_name(i) && fnmatch(glob, syscall_name(i), 0) == 0;
	return count;
}
