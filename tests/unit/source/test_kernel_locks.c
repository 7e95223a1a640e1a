// SPDX-License-Identifier: BSD-2-Clause
/* Names and classes of locks of the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/kernel_lock.h>

#include "base/array.h"
#include "source/offcpu/kernel_locks.h"

static void a_symbol_is_the_name(void **state)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{"cgroup_mutex+0x0/0x20", "cgroup_mutex"},
		{"cgroup_threadgroup_rwsem+0x60/0x80", "cgroup_threadgroup_rwsem+0x60"},
		{"ext4_li_mtx+0x0/0x20 [ext4]", "ext4_li_mtx"},
		{"0xffff88800a3c4d58", ""},
		{"", ""},
		{"+0x0/0x20", ""},
		{"name+nothing", ""},
	};
	char name[PKBPF_LOCK_NAME_SIZE], small[8];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		kernel_lock_name(name, sizeof(name), rows[i].text);
		assert_string_equal(name, rows[i].name);
	}
	kernel_lock_name(small, sizeof(small), "cgroup_mutex+0x0/0x20");
	assert_string_equal(small, "cgroup_");
}

static void flags_tell_the_class(void **state)
{
	static const struct {
		uint32_t flags, class;
	} rows[] = {
		{PKBPF_KERNEL_LOCK_MUTEX, PKBPF_LOCK_KERNEL_MUTEX},
		{PKBPF_KERNEL_LOCK_MUTEX | PKBPF_KERNEL_LOCK_SPIN, PKBPF_LOCK_KERNEL_MUTEX},
		{PKBPF_KERNEL_LOCK_READ, PKBPF_LOCK_KERNEL_RWSEM},
		{PKBPF_KERNEL_LOCK_WRITE, PKBPF_LOCK_KERNEL_RWSEM},
		{PKBPF_KERNEL_LOCK_SPIN, PKBPF_LOCK_KERNEL_SPIN},
		{0, PKBPF_LOCK_KERNEL_SPIN},
		{PKBPF_KERNEL_LOCK_SPIN | PKBPF_KERNEL_LOCK_READ, PKBPF_LOCK_KERNEL_RWLOCK},
		{PKBPF_KERNEL_LOCK_SPIN | PKBPF_KERNEL_LOCK_WRITE, PKBPF_LOCK_KERNEL_RWLOCK},
		{PKBPF_KERNEL_LOCK_PERCPU | PKBPF_KERNEL_LOCK_READ, PKBPF_LOCK_KERNEL_PERCPU},
		{PKBPF_KERNEL_LOCK_RT | PKBPF_KERNEL_LOCK_READ, PKBPF_LOCK_KERNEL_RT},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(pkbpf_kernel_lock_class(rows[i].flags), rows[i].class);
}

static void none_is_fine(void **state)
{
	struct event_buffer buffer = {0};

	(void)state;
	assert_int_equal(kernel_locks_drain(NULL, &buffer), 0);
	assert_int_equal(buffer.size, 0);
	kernel_locks_cut(NULL);
	kernel_locks_each_stack(NULL, NULL, NULL);
	kernel_locks_detach(NULL);
	kernel_locks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_symbol_is_the_name),
		cmocka_unit_test(flags_tell_the_class),
		cmocka_unit_test(none_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
