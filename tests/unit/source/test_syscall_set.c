// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for programs of the kernel side
/* Tests which system calls are counted, and how they are let go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <asm/unistd.h>

#include <pkbpf/syscall_sites.h>

#include "base/clock.h"
#include "capture/tracing_program.h"
#include "source/regions/syscall_set.h"

#define START_NS (1000 * NS_PER_SECOND)
#define STEP_NS	 (100 * NS_PER_MS)
/* Of two CPUs 2 % each: 4 ms of 100. A measured call is said to take 1,300 ns, a counted one 450.
 */
#define MOST_NS 4000000U

static struct pkbpf_span_site sites[PKBPF_SYSCALLS];
static struct pkbpf_span_row rows[3];
static struct syscall_set *set;
static uint64_t now_ns;
static char warning[256];
static unsigned int warnings_count;
/* Programs of a skeleton that has none. */
static uint64_t skeleton[8192];

int tracing_program_attach(const struct bpf_program *program, struct bpf_link **ret_link,
			   struct error *error)
{
	(void)error;
	assert_null(program);
	*ret_link = NULL;
	return 0;
}

static void write_warning(void *context, enum log_level level, const char *text)
{
	(void)context;
	assert_int_equal(level, LOG_WARNING);
	snprintf(warning, sizeof(warning), "%s", text);
	warnings_count++;
}

static const struct log warnings = {.max_level = LOG_WARNING, .write = write_warning};

static int setup(void **state)
{
	static const char *const globs[] = {"read", "pw*te64"};
	const struct syscall_set_options options = {.globs = globs,
						    .glob_count = 2,
						    .cost_permille = 20,
						    .cpu_count = 2,
						    .log = &warnings};
	struct error error;

	(void)state;
	memset(sites, 0, sizeof(sites));
	memset(rows, 0, sizeof(rows));
	warning[0] = '\0';
	warnings_count = 0;
	now_ns = START_NS;
	assert_int_equal(syscall_set_new(&options, &set), 0);
	assert_int_equal(
		syscall_set_attach(set, (struct pkbpf_bpf *)(void *)skeleton, sites, &error), 0);
	for (uint32_t i = 0; i < 3; i++) {
		rows[i].pid = 100 + i;
		rows[i].flags = PKBPF_REGION_FUNCTION;
		snprintf(rows[i].name, sizeof(rows[i].name), "%s", i ? "syscall:read" : "read");
	}
	rows[2].flags = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	syscall_set_free(set);
	return 0;
}

static void poll_with(uint64_t reads, uint64_t writes)
{
	sites[__NR_read].hits += reads;
	sites[__NR_pwrite64].hits += writes;
	now_ns += STEP_NS;
	syscall_set_poll(set, now_ns, rows, 3);
}

static void those_that_were_named_are_sites(void **state)
{
	unsigned int count = 0;

	(void)state;
	for (uint32_t i = 0; i < PKBPF_SYSCALLS; i++)
		count += sites[i].role == PKBPF_SITE_CALL;
	assert_int_equal(count, 2);
	assert_string_equal(sites[__NR_read].name, "syscall:read");
	assert_string_equal(sites[__NR_pwrite64].name, "syscall:pwrite64");
}

static void what_is_within_the_budget_stays(void **state)
{
	(void)state;
	/* Nobody knows since when. */
	poll_with(10 * MOST_NS, 0);
	for (int i = 0; i < 5; i++)
		poll_with(MOST_NS / 1300 / 2, MOST_NS / 1300 / 2);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_CALL);
	assert_int_equal(sites[__NR_pwrite64].role, PKBPF_SITE_CALL);
	assert_int_equal(warnings_count, 0);
	assert_int_equal(sites[__NR_read].hits, 0);
}

static void the_dearest_is_counted_only_then_let_go(void **state)
{
	(void)state;
	poll_with(0, 0);
	poll_with(MOST_NS / 1300 + 100, 50);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_COUNT);
	assert_int_equal(sites[__NR_pwrite64].role, PKBPF_SITE_CALL);
	assert_non_null(strstr(warning, "syscall:read"));
	assert_non_null(strstr(warning, "counted only"));
	/* More than could be measured, and still not too many. */
	poll_with(MOST_NS / 450 - 200, 50);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_COUNT);
	assert_int_equal(rows[1].flags & PKBPF_REGION_LET_GO, 0);
	poll_with(MOST_NS / 450 + 100, 50);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_OFF);
	assert_non_null(strstr(warning, "is let go"));
	assert_int_equal(warnings_count, 2);
	assert_int_equal(rows[0].flags & PKBPF_REGION_LET_GO, 0);
	assert_int_equal(rows[1].flags & PKBPF_REGION_LET_GO, PKBPF_REGION_LET_GO);
	assert_int_equal(rows[2].flags & PKBPF_REGION_LET_GO, 0);
}

/* Programs on other CPUs may have seen it a moment before. */
static void one_that_was_let_go_costs_nothing_more(void **state)
{
	(void)state;
	poll_with(0, 0);
	poll_with(MOST_NS, 0);
	poll_with(MOST_NS, 0);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_OFF);
	poll_with(MOST_NS, MOST_NS / 1300 - 10);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_OFF);
	assert_int_equal(sites[__NR_pwrite64].role, PKBPF_SITE_CALL);
	assert_int_equal(warnings_count, 2);
}

static void looks_too_soon_change_nothing(void **state)
{
	(void)state;
	poll_with(0, 0);
	sites[__NR_read].hits = MOST_NS;
	syscall_set_poll(set, now_ns + 9 * NS_PER_MS, rows, 3);
	assert_int_equal(sites[__NR_read].hits, MOST_NS);
	syscall_set_poll(set, now_ns + 10 * NS_PER_MS, rows, 3);
	assert_int_equal(sites[__NR_read].hits, 0);
	assert_int_equal(sites[__NR_read].role, PKBPF_SITE_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_that_were_named_are_sites, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_within_the_budget_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(the_dearest_is_counted_only_then_let_go, setup,
						teardown),
		cmocka_unit_test_setup_teardown(one_that_was_let_go_costs_nothing_more, setup,
						teardown),
		cmocka_unit_test_setup_teardown(looks_too_soon_change_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
