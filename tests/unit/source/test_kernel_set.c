// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for probes of the kernel
/* Tests which functions of the kernel get probes, and how those that cost too much lose them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/kernel/capability.h"
#include "capture/kernel/kernel_types.h"
#include "source/regions/kernel_functions.h"
#include "source/regions/kernel_probes.h"
#include "source/regions/kernel_set.h"

#define START_NS  (1000 * NS_PER_SECOND)
#define STEP_NS	  (100 * NS_PER_MS)
#define FIRST	  40 /* cookie of the first function */
#define MOST	  4  /* functions */
#define FUNCTIONS 3
/* 100 % of a CPU: 100 ms of 100. */
#define PERMILLE 1000

/* ---- the kernel ---- */

static bool has_multi, refuses_one;
static size_t functions_count, find_count;
static uint32_t refused_count;
static int find_err;
static bool entries_on[FIRST + MOST + 1], returns_on[FIRST + MOST + 1];
static bool priced, began_before_its_end;
static unsigned int updates;

const struct kernel_function_paths kernel_function_paths;

static bool can_probe(struct error *error)
{
	(void)error;
	return true;
}

const struct capability_ops *capability_get(enum capability id)
{
	static const struct capability_ops able = {.probe = can_probe};

	assert_int_equal(id, CAPABILITY_KERNEL_PROBES);
	return &able;
}

uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name)
{
	(void)types;
	(void)kind;
	assert_string_equal(name, KERNEL_TYPE_KPROBE_MULTI);
	return has_multi;
}

int kernel_functions_find(const struct kernel_function_paths *paths, const char *const *globs,
			  size_t glob_count, struct kernel_functions *functions)
{
	bool is_price = strstr(globs[0], "getppid") != NULL;
	size_t count = is_price ? 1 : functions_count;

	assert_ptr_equal(paths, &kernel_function_paths);
	assert_int_equal(glob_count, 1);
	find_count++;
	if (find_err && !is_price)
		return find_err;
	for (size_t i = 0; i < count; i++) {
		struct kernel_function *added = array_add(&functions->items);

		assert_non_null(added);
		*added = (struct kernel_function){.address = 0x1000 * (i + 1)};
		snprintf(added->name, sizeof(added->name), "vfs_%zu", i);
	}
	functions->refused = is_price ? 0 : refused_count;
	return 0;
}

void kernel_functions_done(struct kernel_functions *functions)
{
	array_free(&functions->items);
}

void kernel_probes_init(struct kernel_probes *probes, struct bpf_program *program, bool is_return,
			bool uses_multi)
{
	(void)program;
	*probes = (struct kernel_probes){.uses_multi = uses_multi, .is_return = is_return};
}

int kernel_probes_add(struct kernel_probes *probes, uint64_t address, uint64_t cookie)
{
	bool *on = probes->is_return ? returns_on : entries_on;

	assert_true(cookie >= FIRST && cookie <= FIRST + MOST);
	priced |= cookie == FIRST + MOST;
	if (refuses_one && address == 0x2000 && !probes->is_return)
		return -EINVAL;
	began_before_its_end |= !probes->is_return && !returns_on[cookie];
	on[cookie] = true;
	return 0;
}

void kernel_probes_drop(struct kernel_probes *probes, uint64_t cookie)
{
	(probes->is_return ? returns_on : entries_on)[cookie] = false;
}

int kernel_probes_update(struct kernel_probes *probes)
{
	(void)probes;
	updates++;
	return 0;
}

void kernel_probes_remove(struct kernel_probes *probes)
{
	bool *on = probes->is_return ? returns_on : entries_on;

	/* Those of the price have a list of their own, which begins empty. */
	on[FIRST + MOST] = false;
}

/* ---- a set of three functions ---- */

static const char *const globs[] = {"vfs_*"};
static struct pkbpf_span_site sites[MOST + 1];
static struct pkbpf_span_row rows[FUNCTIONS];
static struct kernel_set *set;
static struct error error;
static uint64_t now_ns;
static char warning[256];
static unsigned int warnings_count;
static uint64_t skeleton[8192]; /* of which programs are none */

static void write_log(void *context, enum log_level level, const char *text)
{
	(void)context;
	if (level != LOG_WARNING)
		return;
	snprintf(warning, sizeof(warning), "%s", text);
	warnings_count++;
}

static const struct log warnings = {.max_level = LOG_WARNING, .write = write_log};

static int setup(void **state)
{
	(void)state;
	has_multi = true;
	refuses_one = priced = began_before_its_end = false;
	functions_count = FUNCTIONS;
	refused_count = 0;
	find_err = 0;
	find_count = 0;
	updates = warnings_count = 0;
	warning[0] = '\0';
	memset(entries_on, 0, sizeof(entries_on));
	memset(returns_on, 0, sizeof(returns_on));
	memset(sites, 0, sizeof(sites));
	memset(rows, 0, sizeof(rows));
	now_ns = START_NS;
	set = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kernel_set_free(set);
	return 0;
}

static int attach(bool wants_callers)
{
	const struct kernel_set_options options = {.globs = globs,
						   .glob_count = 1,
						   .most = MOST,
						   .cost_permille = PERMILLE,
						   .cpu_count = 1,
						   .wants_callers = wants_callers,
						   .log = &warnings};

	assert_int_equal(
		kernel_set_new(&options, (struct pkbpf_bpf *)(void *)skeleton, NULL, &set, &error),
		0);
	return kernel_set_attach(set, sites, FIRST, &error);
}

static void poll_with(uint64_t first, uint64_t second)
{
	sites[0].hits += first;
	sites[1].hits += second;
	now_ns += STEP_NS;
	kernel_set_poll(set, now_ns, rows, FUNCTIONS);
}

static void each_function_has_two_probes_and_a_site(void **state)
{
	(void)state;
	assert_int_equal(attach(false), 0);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		assert_true(entries_on[FIRST + i] && returns_on[FIRST + i]);
		assert_int_equal(sites[i].role, PKBPF_SITE_CALL);
	}
	assert_string_equal(sites[2].name, "kernel:vfs_2");
	assert_false(began_before_its_end);
	/* Of the price nothing is left, and nobody counts it. */
	assert_true(priced);
	assert_false(entries_on[FIRST + MOST] || returns_on[FIRST + MOST]);
	assert_int_equal(sites[MOST].role, PKBPF_SITE_OFF);
	assert_int_equal(warnings_count, 0);
}

static void one_that_is_refused_is_told_and_has_no_half(void **state)
{
	(void)state;
	refuses_one = true;
	assert_int_equal(attach(false), 0);
	assert_false(entries_on[FIRST + 1] || returns_on[FIRST + 1]);
	assert_true(entries_on[FIRST] && returns_on[FIRST + 2]);
	assert_int_equal(warnings_count, 1);
	assert_non_null(strstr(warning, "kernel:vfs_1 is not counted"));
	kernel_set_free(set);
	/* The only one. */
	setup(state);
	refuses_one = true;
	functions_count = 2;
	assert_int_equal(attach(false), 0);
}

static void patterns_that_mean_none_or_too_many_are_refused(void **state)
{
	(void)state;
	functions_count = MOST + 1;
	assert_int_equal(attach(false), -E2BIG);
	assert_non_null(strstr(error.text, "means 5 functions, more than 4 (--max-probes)"));
	kernel_set_free(set);
	functions_count = 0;
	refused_count = 7;
	assert_int_equal(attach(false), -ENOENT);
	assert_non_null(strstr(warning, "7 functions of the kernel that are meant cannot be"));
	kernel_set_free(set);
	find_err = -EACCES;
	assert_int_equal(attach(false), -EACCES);
	assert_non_null(strstr(error.text, "their addresses are hidden"));
	kernel_set_free(set);
	find_err = -EIO;
	assert_int_equal(attach(false), -EIO);
	assert_non_null(strstr(error.text, "cannot read /proc/kallsyms"));
}

static void the_dearest_loses_its_end_then_its_begin(void **state)
{
	uint64_t many = 4 * STEP_NS; /* at least 400 ns each */
	unsigned int before;

	(void)state;
	rows[1].pid = 7;
	rows[1].flags = PKBPF_REGION_FUNCTION;
	assert_int_equal(attach(false), 0);
	snprintf(rows[1].name, sizeof(rows[1].name), "%s", sites[1].name);
	/* Nobody knows since when. */
	poll_with(0, many);
	assert_int_equal(sites[1].role, PKBPF_SITE_CALL);
	poll_with(10, 10);
	assert_int_equal(sites[1].role, PKBPF_SITE_CALL);
	before = updates;
	poll_with(10, many);
	/* The probe of its begin counts on, and no call of another is missed. */
	assert_int_equal(updates, before + 1);
	assert_int_equal(sites[1].role, PKBPF_SITE_COUNT);
	assert_int_equal(sites[0].role, PKBPF_SITE_CALL);
	assert_true(entries_on[FIRST + 1]);
	assert_false(returns_on[FIRST + 1]);
	assert_non_null(strstr(warning, "kernel:vfs_1 is called too often to be measured"));
	poll_with(10, many);
	assert_int_equal(updates, before + 3);
	assert_int_equal(sites[1].role, PKBPF_SITE_OFF);
	assert_false(entries_on[FIRST + 1]);
	assert_int_equal(rows[1].flags & PKBPF_REGION_LET_GO, PKBPF_REGION_LET_GO);
	assert_int_equal(warnings_count, 2);
	/* Hits of before are nobody else's fault, and told once. */
	before = updates;
	poll_with(10, many);
	assert_int_equal(sites[0].role, PKBPF_SITE_CALL);
	assert_int_equal(warnings_count, 2);
	assert_int_equal(updates, before);
}

/* 2,500 ns of a call, over both of its hits. */
static void stacks_of_calls_cost_too(void **state)
{
	(void)state;
	assert_int_equal(attach(true), 0);
	poll_with(0, 0);
	poll_with(STEP_NS / 1250 + 1000, 0);
	assert_int_equal(sites[0].role, PKBPF_SITE_COUNT);
}

static void looks_too_soon_change_nothing(void **state)
{
	(void)state;
	assert_int_equal(attach(false), 0);
	poll_with(0, 0);
	sites[0].hits = 4 * STEP_NS;
	kernel_set_poll(set, now_ns + 9 * NS_PER_MS, rows, FUNCTIONS);
	assert_int_equal(sites[0].hits, 4 * STEP_NS);
	kernel_set_poll(set, now_ns + 10 * NS_PER_MS, rows, FUNCTIONS);
	assert_int_equal(sites[0].hits, 0);
	assert_int_equal(sites[0].role, PKBPF_SITE_COUNT);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(each_function_has_two_probes_and_a_site),
		test(one_that_is_refused_is_told_and_has_no_half),
		test(patterns_that_mean_none_or_too_many_are_refused),
		test(the_dearest_loses_its_end_then_its_begin),
		test(stacks_of_calls_cost_too),
		test(looks_too_soon_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
