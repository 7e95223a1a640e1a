// SPDX-License-Identifier: BSD-2-Clause
// a program of its own: stands in for probes
/* Tests which functions get probes, what these may cost, and what is taken off first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "source/regions/function_price.h"
#include "source/regions/function_set.h"
#include "source/regions/region_probes.h"

#if defined(__x86_64__)

#define FIRST	    4 /* site of the set */
#define SITES	    12
#define EMULATED_NS 600
#define STEPPED_NS  8600
#define PROGRAM_NS  400
#define STACK_NS    2500
#define CPUS	    2
#define PERMILLE    10
#define START_NS    (1000 * NS_PER_SECOND)
#define ROWS	    3

/* The first is pushed by the kernel itself and has two returns, which are stepped; the second has
 * one; the third never returns. */
__asm__(".pushsection .text\n"
	".macro probed_function name\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".endm\n"
	"probed_function probed_two_exits\n"
	"\tpush %rbx\n\ttest %edi, %edi\n\tpop %rbx\n\tje 1f\n\tret\n1:\tnop\n\tret\n"
	".size probed_two_exits, . - probed_two_exits\n"
	"probed_function probed_one_exit\n"
	"\tpush %rbx\n\tnop\n\tpop %rbx\n\tret\n"
	".size probed_one_exit, . - probed_one_exit\n"
	"probed_function probed_endless\n"
	"\tpush %rbx\n1:\tnop\n\tjmp 1b\n"
	".size probed_endless, . - probed_endless\n"
	".popsection\n");

/* ---- probes that only say where they are ---- */

struct region_probes {
	struct region_sites sites;
};

static struct region_sites on; /* all that are on, by number */

static int by_number(const void *a, const void *b)
{
	const struct region_site *left = a, *right = b;

	return (left->cookie > right->cookie) - (left->cookie < right->cookie);
}

static size_t sets_on;
static int refusal;

int region_probes_copy(const struct region_probes *probes, struct region_probes **ret_probes)
{
	(void)probes;
	*ret_probes = calloc(1, sizeof(**ret_probes));
	sets_on++;
	return 0;
}

int region_probes_add(struct region_probes *probes, int fd, const struct region_sites *sites,
		      struct error *error)
{
	assert_true(fd > STDERR_FILENO);
	if (refusal)
		return error_set(error, -refusal, "no");
	array_foreach(&sites->items, site) {
		*array_add(&on.items) = *site;
		*array_add(&probes->sites.items) = *site;
	}
	qsort(on.items.items, on.items.count, sizeof(on.items.items[0]), by_number);
	return 0;
}

void region_probes_free(struct region_probes *probes)
{
	size_t kept = 0;

	if (!probes)
		return;
	array_foreach(&on.items, site) {
		bool is_off = false;

		array_foreach(&probes->sites.items, each)
			is_off |= each->cookie == site->cookie;
		if (!is_off)
			on.items.items[kept++] = *site;
	}
	on.items.count = kept;
	sets_on--;
	array_free(&probes->sites.items);
	free(probes);
}

static struct pkbpf_span_site sites[SITES];

struct function_price function_price_measure(const struct region_probes *model,
					     struct pkbpf_span_site *site, uint32_t number)
{
	(void)model;
	assert_int_equal(number, SITES - 1);
	assert_ptr_equal(site, &sites[SITES - 1]);
	return (struct function_price){EMULATED_NS, STEPPED_NS, PROGRAM_NS};
}

/* ---- a set of functions of this program ---- */

static struct function_set *set;
static struct pkbpf_span_row rows[ROWS];
static char said[1024];
static uint64_t now_ns;
static uint32_t groups = 64;

static void write_said(void *context, enum log_level level, const char *text)
{
	size_t used = strlen(said);

	(void)context;
	if (level == LOG_WARNING)
		snprintf(said + used, sizeof(said) - used, "%s\n", text);
}

static const struct log warnings = {.max_level = LOG_WARNING, .write = write_said};

static void start_of(const char *const *patterns, size_t count, uint32_t most, bool wants_callers,
		     uint32_t site_count)
{
	const struct function_set_options options = {
		.patterns = patterns,
		.pattern_count = count,
		.most = most,
		.groups = groups,
		.cost_permille = PERMILLE,
		.cpu_count = CPUS,
		.wants_callers = wants_callers,
		.log = &warnings,
	};

	memset(sites, 0, sizeof(sites));
	memset(rows, 0, sizeof(rows));
	said[0] = '\0';
	refusal = 0;
	now_ns = START_NS;
	assert_int_equal(function_set_new(&options, &set), 0);
	function_set_begin(set, sites + SITES - site_count, site_count - (SITES - FIRST),
			   site_count);
}

static int add_path(const char *path)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), err;
	struct elf_file file;

	assert_int_equal(elf_file_open(&file, fd), 0);
	err = function_set_add(set, &file, fd, path);
	elf_file_done(&file);
	close(fd);
	return err;
}

static int add(void)
{
	return add_path("/usr/bin/app");
}

static void start(const char *pattern)
{
	start_of(&pattern, 1, 8, false, SITES);
	assert_int_equal(add(), 0);
	/* The first poll has nothing to compare with. */
	function_set_poll(set, now_ns, rows, ROWS);
}

static void stop(void)
{
	function_set_free(set);
	assert_int_equal(sets_on, 0);
	array_free(&on.items);
}

/* Calls of the function whose entry has this site, which leaves by the next one. */
static void call(uint32_t site, uint64_t count)
{
	sites[site].hits += count;
	sites[site + 1].hits += count;
}

static void poll_after_ms(uint32_t ms)
{
	now_ns += ms * NS_PER_MS;
	function_set_poll(set, now_ns, rows, ROWS);
}

/* Nanoseconds that probes may cost in this time, by calls of one entry and one return. */
static uint64_t calls_within(uint32_t ms)
{
	return ms * NS_PER_MS / 1000 * PERMILLE * CPUS /
	       (EMULATED_NS + STEPPED_NS + 2 * PROGRAM_NS);
}

static void a_function_gets_an_entry_and_its_exits(void **state)
{
	start("probed_two_exits");
	assert_int_equal(function_set_count(set), 1);
	assert_int_equal(on.items.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(on.items.items[i].role, REGION_FUNCTION);
		assert_int_equal(on.items.items[i].cookie, FIRST + i);
		assert_int_equal(sites[FIRST + i].role, i ? PKBPF_SITE_RETURN : PKBPF_SITE_CALL);
		assert_int_equal(sites[FIRST + i].pair, 0x10000);
	}
	assert_string_equal(sites[FIRST].name, "probed_two_exits()");
	assert_int_equal(sites[FIRST + 3].role, PKBPF_SITE_OFF);
	assert_string_equal(said, "");
	assert_int_equal(function_set_remove(set), 0);
	assert_int_equal(sets_on, 0);
	stop();
}

static void a_function_without_known_exits_is_counted(void **state)
{
	start("probed_endless");
	assert_int_equal(on.items.count, 1);
	assert_int_equal(sites[FIRST].role, PKBPF_SITE_COUNT);
	assert_string_equal(sites[FIRST].name, "probed_endless()");
	assert_non_null(strstr(said, "probed_endless is counted, but not measured: "));
	stop();
}

static void functions_of_a_file_have_numbers_of_their_own(void **state)
{
	bool seen[SITES] = {false};

	start("probed_*");
	assert_int_equal(function_set_count(set), 3);
	assert_int_equal(on.items.count, 6);
	array_foreach(&on.items, site) {
		assert_in_range(site->cookie, FIRST, FIRST + 5);
		assert_false(seen[site->cookie]);
		seen[site->cookie] = true;
		assert_in_range(sites[site->cookie].pair, 0x10000, 0x10002);
	}
	stop();
}

static void too_many_functions_get_no_probes(void **state)
{
	const char *const pattern = "probed_*";

	start_of(&pattern, 1, 2, false, SITES);
	assert_int_equal(add(), 0);
	assert_int_equal(function_set_count(set), 0);
	assert_int_equal(sets_on, 0);
	assert_non_null(strstr(said, "3 functions of /usr/bin/app are meant (probed_"));
	assert_non_null(strstr(said, ", ...), more than 2 in all: none of them is counted"));
	stop();
	start_of(&pattern, 1, 3, false, SITES);
	assert_int_equal(add(), 0);
	assert_int_equal(function_set_count(set), 3);
	stop();
}

static void too_few_numbers_are_an_error(void **state)
{
	const char *const pattern = "probed_*";

	/* Six are needed. */
	start_of(&pattern, 1, 8, false, SITES);
	assert_int_equal(add(), 0);
	assert_int_equal(add_path("/usr/bin/other"), -ENOSPC);
	stop();
}

static void what_the_kernel_refuses_is_returned(void **state)
{
	const char *const pattern = "probed_one_exit";

	start_of(&pattern, 1, 8, false, SITES);
	refusal = -EACCES;
	assert_int_equal(add(), -EACCES);
	stop();
}

static void a_budget_that_is_kept_changes_nothing(void **state)
{
	start("probed_one_exit");
	for (int i = 0; i < 3; i++) {
		call(FIRST, calls_within(500));
		poll_after_ms(500);
		assert_int_equal(sites[FIRST].hits, 0);
	}
	assert_int_equal(on.items.count, 2);
	assert_string_equal(said, "");
	stop();
}

static void returns_are_let_go_first_then_the_function(void **state)
{
	start("probed_one_exit");
	memcpy(rows,
	       (struct pkbpf_span_row[ROWS]){
		       {.pid = 7, .flags = PKBPF_REGION_FUNCTION, .name = "probed_one_exit()"},
		       {.pid = 7, .name = "probed_one_exit()"},
		       {.pid = 7, .flags = PKBPF_REGION_FUNCTION, .name = "other()"},
	       },
	       sizeof(rows));
	call(FIRST, calls_within(500) + 1);
	poll_after_ms(500);
	assert_non_null(strstr(said,
			       "probed_one_exit() is called too often to be measured "
			       "within --probe-cost: from now on its calls are counted only"));
	/* The same probe counts on: with another one beside it, calls would count twice. */
	assert_int_equal(sets_on, 1);
	assert_int_equal(on.items.count, 1);
	assert_int_equal(on.items.items[0].cookie, FIRST);
	assert_int_equal(sites[FIRST].role, PKBPF_SITE_COUNT);
	assert_int_equal(sites[FIRST + 1].role, PKBPF_SITE_OFF);
	assert_int_equal(rows[0].flags, PKBPF_REGION_FUNCTION);

	said[0] = '\0';
	sites[FIRST].hits = 500 * NS_PER_MS / 1000 * PERMILLE * CPUS / 1000 + 1;
	poll_after_ms(500);
	assert_non_null(strstr(said, "probed_one_exit() is called too often to be counted "
				     "within --probe-cost (at least 20002 calls/s): it is let go"));
	assert_int_equal(sets_on, 0);
	assert_int_equal(sites[FIRST].role, PKBPF_SITE_OFF);
	assert_int_equal(rows[0].flags, PKBPF_REGION_FUNCTION | PKBPF_REGION_LET_GO);
	assert_int_equal(rows[1].flags, 0);
	assert_int_equal(rows[2].flags, PKBPF_REGION_FUNCTION);
	assert_int_equal(function_set_count(set), 1);
	stop();
}

static uint32_t site_of(const char *name)
{
	for (uint32_t i = FIRST; i < SITES; i++)
		if (sites[i].role != PKBPF_SITE_OFF && strcmp(sites[i].name, name) == 0)
			return i;
	fail_msg("%s has no entry", name);
	return 0;
}

static void the_dearest_function_gives_way(void **state)
{
	uint32_t dear, cheap;

	start("probed_*_exit*");
	dear = site_of("probed_two_exits()");
	cheap = site_of("probed_one_exit()");
	/* Together too much; either alone would do. */
	call(dear, calls_within(500) * 6 / 10);
	call(cheap, calls_within(500) * 5 / 10);
	poll_after_ms(500);
	assert_non_null(strstr(said, "probed_two_exits() is called too often"));
	assert_null(strstr(said, "probed_one_exit()"));
	assert_int_equal(on.items.count, 3);
	/* Costs count from poll to poll. */
	said[0] = '\0';
	call(site_of("probed_one_exit()"), calls_within(500) * 5 / 10);
	poll_after_ms(500);
	assert_string_equal(said, "");
	stop();
}

static void stacks_of_calls_are_part_of_the_cost(void **state)
{
	const char *const pattern = "probed_one_exit";

	start_of(&pattern, 1, 8, true, SITES);
	assert_int_equal(add(), 0);
	function_set_poll(set, now_ns, rows, ROWS);
	/* A call's entry and return, and the stack, which is read at the return. */
	call(FIRST, 500 * NS_PER_MS / 1000 * PERMILLE * CPUS /
			    (EMULATED_NS + STEPPED_NS + 2 * PROGRAM_NS + STACK_NS));
	poll_after_ms(500);
	assert_string_equal(said, "");
	call(FIRST, calls_within(500) * 9 / 10);
	poll_after_ms(500);
	assert_non_null(strstr(said, "counted only"));
	/* Of a call that is counted: at the entry. */
	said[0] = '\0';
	sites[FIRST].hits =
		500 * NS_PER_MS / 1000 * PERMILLE * CPUS / (EMULATED_NS + PROGRAM_NS + STACK_NS);
	poll_after_ms(500);
	assert_string_equal(said, "");
	sites[FIRST].hits =
		500 * NS_PER_MS / 1000 * PERMILLE * CPUS / (EMULATED_NS + PROGRAM_NS + STACK_NS) +
		1;
	poll_after_ms(500);
	assert_non_null(strstr(said, "it is let go"));
	stop();
}

static void two_polls_are_some_time_apart(void **state)
{
	start("probed_one_exit");
	call(FIRST, 1000000);
	poll_after_ms(9);
	assert_string_equal(said, "");
	assert_int_equal(sites[FIRST].hits, 1000000);
	poll_after_ms(1);
	assert_non_null(strstr(said, "counted only"));
	stop();
}

static void probes_that_cannot_be_had_again_are_missed_with_a_warning(void **state)
{
	groups = 1;
	start("probed_*");
	call(site_of("probed_one_exit()"), calls_within(500) * 2);
	refusal = -EBUSY;
	poll_after_ms(500);
	assert_non_null(strstr(said, "cannot watch the functions of /usr/bin/app any more"));
	stop();
	groups = 64;
}

/* Each has a link of its own: what is let go changes nothing for the others. With one link for all
 * of them, the others miss calls, which is said of them. */
static void calls_of_the_others_are_missed_only_in_the_same_group(void **state)
{
	for (groups = 1; groups <= 64; groups += 63) {
		uint32_t other;

		start("probed_*_exit*");
		rows[0] = (struct pkbpf_span_row){
			.pid = 7, .flags = PKBPF_REGION_FUNCTION, .name = "probed_one_exit()"};
		other = site_of("probed_one_exit()");
		call(site_of("probed_two_exits()"), calls_within(500) * 5);
		poll_after_ms(500);
		assert_int_equal(site_of("probed_one_exit()"), other);
		assert_int_equal(rows[0].flags, PKBPF_REGION_FUNCTION);
		sites[site_of("probed_two_exits()")].hits = 1000000;
		poll_after_ms(500);
		assert_non_null(
			strstr(said, "probed_two_exits() is called too often to be counted"));
		assert_int_equal(!!(rows[0].flags & PKBPF_REGION_LET_GO), groups == 1);
		/* The entry and the return of the other. */
		assert_int_equal(on.items.count, 2);
		stop();
	}
	groups = 64;
}

static void new_probes_are_looked_at_more_often(void **state)
{
	const char *const pattern = "probed_one_exit";

	start_of(&pattern, 1, 8, false, SITES);
	assert_int_equal(function_set_rest_ms(set), 100);
	assert_int_equal(add(), 0);
	assert_int_equal(function_set_rest_ms(set), 20);
	stop();
}

static void patterns_that_mean_nothing_are_named(void **state)
{
	static const char *const patterns[] = {"probed_one_exit", "no_such", "libq:none*",
					       "chosen_*"};
	char name[64];

	start_of(patterns, 4, 8, false, SITES);
	assert_true(function_set_wants(set, "/usr/bin/app"));
	assert_true(function_set_wants(set, "/usr/lib/libq.so.1"));
	assert_false(function_set_wants(set, "/usr/lib/libr.so.1"));
	assert_int_equal(add(), 0);
	assert_false(function_set_means(set, "/usr/bin/app", "unchosen", name, sizeof(name)));
	assert_false(function_set_means(set, "/usr/lib/libr.so", "chosen_1", name, sizeof(name)));
	assert_true(function_set_means(set, "/usr/bin/app", "chosen_1", name, sizeof(name)));
	assert_string_equal(name, "chosen_1");
	assert_int_equal(function_set_remove(set), 2);
	assert_string_equal(said, "--function no_such means no function\n"
				  "--function libq:none* means no function\n");
	stop();
}

static void files_without_functions_that_are_meant_get_nothing(void **state)
{
	const char *const pattern = "probed_one_exit";

	assert_int_equal(function_set_count(NULL), 0);
	start_of(&pattern, 1, 8, false, SITES);
	assert_int_equal(add_path("/usr/lib/libx.so"), 0);
	assert_int_equal(function_set_count(set), 0);
	assert_int_equal(sets_on, 0);
	poll_after_ms(500);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_gets_an_entry_and_its_exits),
		cmocka_unit_test(a_function_without_known_exits_is_counted),
		cmocka_unit_test(functions_of_a_file_have_numbers_of_their_own),
		cmocka_unit_test(too_many_functions_get_no_probes),
		cmocka_unit_test(too_few_numbers_are_an_error),
		cmocka_unit_test(what_the_kernel_refuses_is_returned),
		cmocka_unit_test(a_budget_that_is_kept_changes_nothing),
		cmocka_unit_test(returns_are_let_go_first_then_the_function),
		cmocka_unit_test(the_dearest_function_gives_way),
		cmocka_unit_test(stacks_of_calls_are_part_of_the_cost),
		cmocka_unit_test(two_polls_are_some_time_apart),
		cmocka_unit_test(probes_that_cannot_be_had_again_are_missed_with_a_warning),
		cmocka_unit_test(calls_of_the_others_are_missed_only_in_the_same_group),
		cmocka_unit_test(new_probes_are_looked_at_more_often),
		cmocka_unit_test(patterns_that_mean_nothing_are_named),
		cmocka_unit_test(files_without_functions_that_are_meant_get_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 0; /* functions are decoded on x86-64 only */
}

#endif
