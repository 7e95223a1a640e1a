// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/context/context_variable: the words of a process by each model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "source/context/context_variable.h"

#define MAP   0x7f0000000000ULL
#define SLOT  0x2000
#define INDEX 0x5000000000ULL

static int64_t slot[2];
static uint64_t module_index[2];

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context;
	if (address == MAP + SLOT && size <= sizeof(slot))
		memcpy(buffer, slot, size);
	else if (address == INDEX && size == sizeof(module_index))
		memcpy(buffer, module_index, size);
	else
		return -EFAULT;
	return 0;
}

static int resolve(enum tls_model model, int64_t value, bool is_musl,
		   struct pkbpf_context_process *process)
{
	const struct context_process_view view = {.read = read_memory, .is_musl = is_musl};
	const struct context_place place = {.model = model, .value = value, .slot = SLOT};

	*process = (struct pkbpf_context_process){0};
	return context_variable_resolve(&view, &place, MAP, process);
}

static void fixed_and_offsets(void **state)
{
	struct pkbpf_context_process process;

	(void)state;
	assert_int_equal(resolve(TLS_FIXED, -16, false, &process), 0);
	assert_int_equal(process.form, PKBPF_CONTEXT_STATIC);
	assert_int_equal(process.offset, -16);
	slot[0] = -80;
	assert_int_equal(resolve(TLS_OFFSET, 0, false, &process), 0);
	assert_int_equal(process.offset, -80);
	slot[0] = 0;
	assert_int_equal(resolve(TLS_OFFSET, 0, false, &process), -EAGAIN);
}

static void modules_by_the_vector_of_the_library(void **state)
{
	struct pkbpf_context_process process;

	(void)state;
	slot[0] = 2;
	slot[1] = 24;
	assert_int_equal(resolve(TLS_MODULE, 0, false, &process), 0);
	assert_int_equal(process.form, PKBPF_CONTEXT_DYNAMIC);
	assert_int_equal(process.entry, 32);
	assert_int_equal(process.offset, 24);
	assert_int_equal(resolve(TLS_MODULE, 0, true, &process), 0);
	assert_int_equal(process.entry, 16);
	assert_int_equal(resolve(TLS_MODULE_ALONE, 8, false, &process), 0);
	assert_int_equal(process.offset, 8);
	slot[0] = 0;
	assert_int_equal(resolve(TLS_MODULE, 0, false, &process), -EAGAIN);
	slot[0] = 1LL << 40;
	assert_int_equal(resolve(TLS_MODULE, 0, false, &process), -EAGAIN);
}

static void descriptors(void **state)
{
	struct pkbpf_context_process process;

	(void)state;
	slot[0] = 0x401000;
#if defined(__x86_64__)
	slot[1] = -24;
	assert_int_equal(resolve(TLS_DESCRIPTOR, 0, false, &process), 0);
	assert_int_equal(process.form, PKBPF_CONTEXT_STATIC);
	assert_int_equal(process.offset, -24);
#endif
	slot[1] = (int64_t)INDEX;
	module_index[0] = 3;
	module_index[1] = 40;
	assert_int_equal(resolve(TLS_DESCRIPTOR, 0, false, &process), 0);
	assert_int_equal(process.entry, 48);
	assert_int_equal(process.offset, 40);
	slot[1] = 0x6000000000;
	assert_int_equal(resolve(TLS_DESCRIPTOR, 0, false, &process), -EFAULT);
	slot[0] = 0;
	assert_int_equal(resolve(TLS_DESCRIPTOR, 0, false, &process), -EAGAIN);
}

static void nonsense_is_refused(void **state)
{
	struct pkbpf_context_process process;

	(void)state;
	assert_int_equal(resolve(0, 0, false, &process), -EBADMSG);
	assert_int_equal(resolve(99, 0, false, &process), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fixed_and_offsets),
		cmocka_unit_test(modules_by_the_vector_of_the_library),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
