// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/libbpf_log: what is passed on, and what is kept for an error message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/libbpf.h>
#include <string.h>

#include "capture/kernel/libbpf_log.h"

static void count(void *context, enum log_level level, const char *text)
{
	int *heard = context;

	assert_int_equal(level, LOG_DEBUG);
	++*heard;
}

/* As libbpf does. */
__attribute__((format(printf, 2, 3))) static void say(enum libbpf_print_level level,
						      const char *format, ...)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);
	va_list arguments;

	libbpf_set_print(print);
	assert_non_null(print);
	va_start(arguments, format);
	print(level, format, arguments);
	va_end(arguments);
}

static void say_failure(void)
{
	say(LIBBPF_WARN, "prog '%s': BPF program load failed: %s\n", "sample_cpu",
	    "Permission denied");
	say(LIBBPF_DEBUG, "prog '%s': of no interest\n", "other");
	say(LIBBPF_WARN, "0: R1=ctx\nR2 !read_ok\nprocessed %d insns (limit %d)\n", 2, 1000000);
}

static void keeps_why_a_load_failed_when_nobody_listens(void **state)
{
	int heard = 0;
	const struct log quiet = {.max_level = LOG_INFO, .write = count, .context = &heard};
	const struct log *const logs[] = {NULL, &quiet};
	char program[64], reason[64];

	for (size_t i = 0; i < 2; i++) {
		libbpf_log_begin(logs[i]);
		say_failure();
		libbpf_log_failure(program, sizeof(program), reason, sizeof(reason));
		libbpf_log_end();
		assert_string_equal(program, "sample_cpu");
		assert_string_equal(reason, "R2 !read_ok");
	}
	assert_int_equal(heard, 0);
}

static void passes_all_messages_to_a_log_that_wants_details(void **state)
{
	int heard = 0;
	const struct log log = {.max_level = LOG_DEBUG, .write = count, .context = &heard};
	char program[64], reason[64];

	libbpf_log_begin(&log);
	say_failure();
	libbpf_log_failure(program, sizeof(program), reason, sizeof(reason));
	libbpf_log_end();
	assert_int_equal(heard, 3);
	assert_string_equal(program, "sample_cpu");
	assert_string_equal(reason, "R2 !read_ok");
}

/* No argument is looked at, so these need not be what the format says. */
static void does_not_format_what_nobody_reads(void **state)
{
	const char *nowhere = (const char *)8;

	libbpf_log_begin(NULL);
	say(LIBBPF_DEBUG, "%s", nowhere);
	say(LIBBPF_INFO, "%s", nowhere);
	libbpf_log_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_why_a_load_failed_when_nobody_listens),
		cmocka_unit_test(passes_all_messages_to_a_log_that_wants_details),
		cmocka_unit_test(does_not_format_what_nobody_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
