// SPDX-License-Identifier: BSD-2-Clause
/* The options of the sources of regions, block I/O and allocations, as their rows read them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/span.h>

#include "base/array.h"
#include "base/clock.h"
#include "source/regions/syscall_names.h"
#include "source/source_options.h"

static int apply(const struct option_row *rows, const char *name, const char *value,
		 struct source_options *options)
{
	struct error error = {0};
	int err;

	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	assert_non_null(rows->name);
	err = option_row_apply(rows, options, value, &error);
	assert_true(err >= 0 || strstr(error.text, name));
	return err;
}

static int apply_region(const char *name, const char *value, struct source_options *options)
{
	return apply(region_option_rows, name, value, options);
}

static void nothing_is_probed_by_default(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_false(options.regions.wanted || options.regions.frames || options.regions.callers);
	assert_int_equal(options.regions.pair_count + options.regions.function_count, 0);
	assert_int_equal(options.regions.syscall_count + options.regions.kernel_count, 0);
	assert_int_equal(options.regions.max_probes, 512);
	assert_int_equal(options.regions.cost_permille, 20);
	assert_true(options.regions.slow_region_ns == UINT64_MAX);
	assert_true(options.regions.slow_function_ns == UINT64_MAX);
	assert_int_equal(options.regions.slow_count, 10);
	assert_int_equal(options.blockio.slow_ns, 10 * NS_PER_MS);
	assert_int_equal(options.blockio.slow_count, 10);
	assert_false(options.alloc.wanted);
}

static void functions_are_told_from_system_calls_and_the_kernel(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(apply_region("function", "libc:malloc", &options), 0);
	assert_int_equal(apply_region("function", "0x1234", &options), 0);
	assert_int_equal(apply_region("function", "syscall:read*", &options), 0);
	assert_int_equal(apply_region("function", "kernel:vfs_*", &options), 0);
	assert_int_equal(options.regions.function_count, 2);
	assert_string_equal(options.regions.functions[0], "libc:malloc");
	assert_int_equal(options.regions.syscall_count, 1);
	assert_string_equal(options.regions.syscalls[0], "read*");
	assert_int_equal(options.regions.kernel_count, 1);
	assert_string_equal(options.regions.kernel[0], "vfs_*");
	assert_int_equal(apply_region("function", "kernel:", &options), -EINVAL);
	assert_int_equal(apply_region("function", "syscall:no_such_call", &options), -EINVAL);
	assert_int_equal(apply_region("function", "", &options), -EINVAL);
	assert_false(options.regions.wanted);
}

static void there_is_room_for_so_many_patterns(void **state)
{
	static const char *const values[] = {"f", "syscall:read", "kernel:f"};
	struct source_options options;

	source_options_init(&options);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (int n = 0; n < REGION_PATTERNS_MAX; n++)
			assert_int_equal(apply_region("function", values[i], &options), 0);
		assert_int_equal(apply_region("function", values[i], &options), -EINVAL);
	}
	assert_int_equal(options.regions.function_count, REGION_PATTERNS_MAX);
	assert_int_equal(options.regions.syscall_count, REGION_PATTERNS_MAX);
	assert_int_equal(options.regions.kernel_count, REGION_PATTERNS_MAX);
	for (int n = 0; n < REGION_PAIRS_MAX; n++)
		assert_int_equal(apply_region("region", "a=function:f..g", &options), 0);
	assert_int_equal(apply_region("region", "a=function:f..g", &options), -EINVAL);
	assert_int_equal(options.regions.pair_count, REGION_PAIRS_MAX);
}

static void regions_have_a_name_and_a_pair(void **state)
{
	static const char *const wrong[] = {"",	       "a",	 "=usdt:p:a..b",  "a=p:a..b",
					    "a=usdt:", "a=usdt", "a=function:a.b"};
	char text[128], longest[PKBPF_SPAN_NAME + 32] = "";
	struct source_options options;
	struct usdt_pair pair;

	source_options_init(&options);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(apply_region("region", wrong[i], &options), -EINVAL);
	assert_false(options.regions.wanted);
	assert_int_equal(apply_region("region", "a=usdt:p:b..c", &options), 0);
	assert_true(options.regions.wanted);
	snprintf(text, sizeof(text), "%s", options.regions.pairs[0]);
	assert_true(region_pair_parse(text, &pair));
	assert_string_equal(pair.region, "a");
	assert_string_equal(pair.provider, "p");
	memset(longest, 'n', PKBPF_SPAN_NAME - 1);
	strcat(longest, "=function:f..g");
	assert_int_equal(apply_region("region", longest, &options), 0);
	memset(longest, 'n', PKBPF_SPAN_NAME);
	strcpy(longest + PKBPF_SPAN_NAME, "=function:f..g");
	assert_int_equal(apply_region("region", longest, &options), -EINVAL);
}

static void probes_cost_percent_of_each_cpu_or_anything(void **state)
{
	static const struct {
		const char *value;
		int err;
		uint32_t permille;
	} rows[] = {
		{"1", 0, 10},	       {"3%", 0, 30},
		{"100%", 0, 1000},     {"none", 0, UINT32_MAX},
		{"0", -EINVAL, 7},     {"101", -EINVAL, 7},
		{"", -EINVAL, 7},      {"%", -EINVAL, 7},
		{"1.5", -EINVAL, 7},   {"0000000000000001", -EINVAL, 7},
		{"none%", -EINVAL, 7},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_options options = {.regions.cost_permille = 7};

		assert_int_equal(apply_region("probe-cost", rows[i].value, &options), rows[i].err);
		assert_int_equal(options.regions.cost_permille, rows[i].permille);
	}
}

static void slow_ones_are_listed_from_a_time_on(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(apply_region("slow-function", "5ms", &options), 0);
	assert_int_equal(options.regions.slow_function_ns, 5 * NS_PER_MS);
	assert_false(options.regions.wanted);
	assert_int_equal(apply_region("slow-region", "2s", &options), 0);
	assert_int_equal(options.regions.slow_region_ns, 2 * NS_PER_SECOND);
	assert_true(options.regions.wanted);
	assert_true(apply_region("slow-region", "soon", &options) < 0);
}

static void slow_requests_are_none_any_or_from_a_time_on(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(apply(blockio_option_rows, "slow-io", "3ms", &options), 0);
	assert_int_equal(options.blockio.slow_ns, 3 * NS_PER_MS);
	assert_int_equal(apply(blockio_option_rows, "slow-io", "none", &options), 0);
	assert_true(options.blockio.slow_ns == UINT64_MAX);
	assert_int_equal(apply(blockio_option_rows, "slow-io", "0", &options), 0);
	assert_int_equal(options.blockio.slow_ns, 0);
	assert_true(apply(blockio_option_rows, "slow-io", "never", &options) < 0);
}

static void samples_of_allocations_are_at_least_a_byte_apart(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(apply(alloc_option_rows, "alloc-rate", "1", &options), 0);
	assert_int_equal(options.alloc.interval_bytes, 1);
	assert_int_equal(apply(alloc_option_rows, "alloc-rate", "512K", &options), 0);
	assert_int_equal(options.alloc.interval_bytes, 512 << 10);
	assert_int_equal(apply(alloc_option_rows, "alloc-rate", "1024G", &options), 0);
	assert_true(apply(alloc_option_rows, "alloc-rate", "1025G", &options) < 0);
	assert_true(apply(alloc_option_rows, "alloc-rate", "0", &options) < 0);
	assert_true(options.alloc.interval_bytes == 1ULL << 40);
}

static void a_region_is_counted_from_one_limit_on(void **state)
{
	struct region_limits limits = {0};

	assert_int_equal(region_limits_add(&limits, "predict", 5), 0);
	assert_int_equal(region_limits_add(&limits, "predict", 5), 0);
	assert_int_equal(region_limits_add(&limits, "predict", 6), -EEXIST);
	for (int i = 1; i < PKBPF_SPAN_LIMITS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "r%d", i);
		assert_int_equal(region_limits_add(&limits, name, 1), 0);
	}
	assert_int_equal(region_limits_add(&limits, "more", 1), -ENOSPC);
	assert_int_equal(limits.count, PKBPF_SPAN_LIMITS);
}

static void system_calls_have_their_names(void **state)
{
	size_t all = syscall_match_count("*"), known = 0;

	for (uint32_t i = 0; i < 1000; i++)
		known += syscall_name(i) != NULL;
	assert_int_equal(known, all);
	assert_true(all > 300);
	assert_int_equal(syscall_match_count("openat"), 1);
	assert_int_equal(syscall_match_count("epoll_create1"), 1);
	assert_int_equal(syscall_match_count("epoll_[cw]*t"), syscall_match_count("epoll_wait"));
	assert_int_equal(syscall_match_count(""), 0);
	assert_null(syscall_name(UINT32_MAX));
#if defined(__x86_64__)
	assert_string_equal(syscall_name(0), "read");
	assert_string_equal(syscall_name(1), "write");
	assert_string_equal(syscall_name(257), "openat");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_probed_by_default),
		cmocka_unit_test(functions_are_told_from_system_calls_and_the_kernel),
		cmocka_unit_test(there_is_room_for_so_many_patterns),
		cmocka_unit_test(regions_have_a_name_and_a_pair),
		cmocka_unit_test(probes_cost_percent_of_each_cpu_or_anything),
		cmocka_unit_test(slow_ones_are_listed_from_a_time_on),
		cmocka_unit_test(slow_requests_are_none_any_or_from_a_time_on),
		cmocka_unit_test(samples_of_allocations_are_at_least_a_byte_apart),
		cmocka_unit_test(a_region_is_counted_from_one_limit_on),
		cmocka_unit_test(system_calls_have_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
