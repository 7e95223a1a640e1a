// SPDX-License-Identifier: BSD-2-Clause
/* Tests what the text report says of network peers, regions, limits and programs without names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "fake_profile.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define PID    5

static char *text_of(struct fake_profile *fake, bool full)
{
	const struct format_options options = {.top = 10, .full = full, .width = 160};
	char *text;

	account_end(fake);
	text = fake_profile_write(fake, "text", &options);
	fake_profile_done(fake);
	return text;
}

/* The line with this text, up to its end; NULL: there is none. */
static const char *line_with(char *text, const char *part)
{
	static char line[512];
	const char *at = strstr(text, part), *begin = at, *end;

	if (!at)
		return NULL;
	while (begin > text && begin[-1] != '\n')
		begin--;
	end = at + strcspn(at, "\n");
	snprintf(line, sizeof(line), "%.*s", (int)(end - begin), begin);
	return line;
}

/* ---- the network ---- */

static void add_network(const struct fake_profile *fake, uint16_t port, uint8_t measure,
			uint8_t state, uint32_t count, uint64_t each_ns)
{
	struct peer peer = {.address = {.port = port,
					.family = PKBPF_NETWORK_IPV4,
					.role = PKBPF_NETWORK_CLIENT,
					.protocol = PKBPF_NETWORK_TCP},
			    .comm = "postgres"};
	const struct process *process = process_table_find(profile_processes(fake->profile), PID);
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each_ns), count};
	struct distribution_key key = {.kind = PKBPF_PROFILE_NETWORK,
				       .process = process->id,
				       .state = state,
				       .measure = measure};
	struct distribution_change change = {.count = count,
					     .total = each_ns ? count * each_ns : count,
					     .max = each_ns,
					     .buckets = &bucket,
					     .bucket_count = each_ns ? 1 : 0};

	assert_int_equal(inet_pton(AF_INET, "10.0.0.7", peer.address.address), 1);
	key.device = peer_table_get(profile_peers(fake->profile), &peer);
	assert_int_equal(profile_add_distribution(fake->profile, &key, &change), 0);
}

static void begin_network(struct fake_profile *fake)
{
	account_begin(fake, 1U << PKBPF_PROFILE_NETWORK | 1U << PKBPF_PROFILE_CPU, SECOND,
		      21 * SECOND);
	account_process(fake,
			&(struct account_process){.pid = PID, .comm = "app", .run_ns = SECOND});
	account_samples(fake, PID, "app", 99, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static void peers_are_listed_with_messages_and_answers(void **state)
{
	struct fake_profile fake;
	const char *line;
	char *text;

	begin_network(&fake);
	add_network(&fake, 5432, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_SENT, 1234, 0);
	add_network(&fake, 5432, PKBPF_NETWORK_MESSAGES, PKBPF_NETWORK_RECEIVED, 1200, 0);
	add_network(&fake, 5432, PKBPF_NETWORK_RESPONSES, PKBPF_NETWORK_CLIENT, 1200, 3 * MS);
	add_network(&fake, 6379, PKBPF_NETWORK_FAILURES, 111, 7, 0);
	text = text_of(&fake, false);
	line = line_with(text, "10.0.0.7:5432");
	assert_non_null(line);
	assert_non_null(strstr(line, "app"));
	assert_non_null(strstr(line, "tcp 10.0.0.7:5432 (postgres)"));
	assert_non_null(strstr(line, " 2,434 "));
	assert_non_null(strstr(line, "3.00 ms"));
	/* Busier peers come first. */
	assert_true(strstr(strstr(text, "Network,"), "10.0.0.7:5432") <
		    strstr(strstr(text, "Network,"), "10.0.0.7:6379"));
	assert_non_null(line_with(text, "its connections to a peer fail: Connection refused"));
	free(text);
}

/* ---- regions ---- */

static uint32_t add_region(const struct fake_profile *fake, uint32_t parent, const char *name,
			   const struct region_sums *sums, uint64_t each_ns)
{
	const struct region_bucket bucket = {pkbpf_histogram_index(each_ns), sums->count};
	int64_t place = region_table_get(profile_regions(fake->profile), 0, parent,
					 profile_intern_string(fake->profile, name), 0);

	assert_true(place >= 0);
	assert_int_equal(
		region_table_add(profile_regions(fake->profile), (uint32_t)place, sums, &bucket, 1),
		0);
	return (uint32_t)place;
}

static void begin(struct fake_profile *fake)
{
	account_begin(fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU, SECOND,
		      21 * SECOND);
	account_process(fake,
			&(struct account_process){.pid = PID, .comm = "app", .run_ns = SECOND});
	account_samples(fake, PID, "app", 99, FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
}

static void regions_are_listed_below_those_around_them(void **state)
{
	struct region_sums step = {.count = 120,
				   .total_ns = 6 * SECOND,
				   .max_ns = 200 * MS,
				   .self_ns = 2 * SECOND,
				   .items = 3840,
				   .rss_readings = 120,
				   .rss_sum_kib = 120 << 10,
				   .rss_max_kib = 5 << 10,
				   .rss_growth_kib = -(7 << 10)},
			   load = {.count = 120, .total_ns = 3 * SECOND, .max_ns = 90 * MS};
	struct fake_profile fake;
	const char *line;
	uint32_t outer;
	char *text;

	begin(&fake);
	outer = add_region(&fake, REGION_ROOT, "step", &step, 50 * MS);
	add_region(&fake, outer, "load", &load, 25 * MS);
	text = text_of(&fake, true);
	assert_non_null(line_with(text, "Regions of app"));
	line = line_with(text, " step ");
	assert_non_null(strstr(line, "120"));
	assert_non_null(strstr(line, "6.00 s"));
	assert_non_null(strstr(line, "200 ms"));
	/* Items in a second of the region. */
	assert_non_null(strstr(line, "640"));
	line = line_with(text, "   load ");
	assert_non_null(line);
	assert_non_null(strstr(line, "50.0%"));
	free(text);
}

static void regions_that_ended_oddly_are_told(void **state)
{
	const struct region_sums odd = {.count = 10,
					.lost_end = 3,
					.unfinished = 2,
					.total_ns = SECOND,
					.max_ns = 100 * MS};
	struct fake_profile fake;
	char *text;

	begin(&fake);
	add_region(&fake, REGION_ROOT, "odd", &odd, 100 * MS);
	text = text_of(&fake, true);
	assert_non_null(line_with(text, "odd"));
	assert_non_null(strstr(text, "3"));
	free(text);
}

/* ---- limits ---- */

static void limits_that_were_reached_are_told_with_how_full_they_are(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake);
	account_memory_limit(&fake, 4, "/mem", 64 << 20, 63 << 20, 12);
	account_cpu_limit(&fake, 3, "/box", 50, 100, 40);
	text = text_of(&fake, true);
	assert_non_null(line_with(text, "cgroup /mem: 63.0 MiB of 64.0 MiB (98 % of its limit), "
					"reached 12 times"));
	assert_non_null(line_with(text, "/box: is limited to 0.50 CPUs"));
	free(text);
}

static void the_fullest_cgroup_comes_first_and_an_empty_one_tells_nothing(void **state)
{
	struct fake_profile fake;
	char *text;

	begin(&fake);
	account_memory_limit(&fake, 4, "/half", 64 << 20, 32 << 20, 0);
	account_memory_limit(&fake, 5, "/full", 64 << 20, 64 << 20, 0);
	account_memory_limit(&fake, 6, "/empty", 64 << 20, 0, 0);
	text = text_of(&fake, true);
	assert_null(line_with(text, "/empty"));
	assert_non_null(line_with(text, "cgroup /half: 32.0 MiB of 64.0 MiB (50 % of its limit)"));
	assert_null(line_with(text, "reached"));
	assert_true(strstr(text, "/full") < strstr(text, "/half"));
	free(text);
}

/* ---- programs without names ---- */

/* The report of a machine's samples, and the end of the machine; the caller frees it. */
static char *page_of(struct fake_machine *machine, const struct fake_symbol *symbols, size_t count)
{
	const struct format_options options = {.top = 10, .width = 200};
	struct fake_profile fake;
	char *text;

	fake_profile_init(&fake, NULL);
	profile_info(fake.profile)->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	fake_profile_run(&fake, machine, symbols, count);
	text = fake_profile_write(&fake, "text", &options);
	fake_profile_done(&fake);
	fake_machine_free(machine);
	return text;
}

/* A report of samples in generated code of a process of this name, with so many named ones. */
static char *generated_of(const char *comm, uint64_t unnamed, uint64_t named)
{
	static const struct fake_symbol symbols[] = {
		FAKE_FUNCTION("/usr/bin/app", 0x1000, 0x1100, "main")};
	struct fake_machine *machine = fake_machine_new();

	fake_process(machine, 100, 1, comm);
	fake_map(machine, 100, 0x400000, 0x410000, 0x1000, "/usr/bin/app");
	fake_map(machine, 100, 0x500000, 0x510000, 0, "");
	for (uint64_t i = 0; i < unnamed; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x500010, 0x400010));
	for (uint64_t i = 0; i < named; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400010));
	return page_of(machine, symbols, ARRAY_SIZE(symbols));
}

static void programs_of_each_runtime_are_advised_how_to_have_names(void **state)
{
	static const struct {
		const char *comm, *advice;
	} rows[] = {
		{"node", "JavaScript functions without names; Node 18, 20, 22 "
			 "and 24 on x86-64 need no option; start others with --perf-basic-prof"},
		{"java", "Java functions without names; \"pkbpf doctor --pid PID\""},
		{"dotnet", ".NET functions without names; start it with DOTNET_PerfMapEnabled=1"},
		{"ruby", "--yjit-perf (3.3 and later), interpreted ones in rbspy."},
		{"php-fpm8.2",
		 "-d opcache.jit_debug=16 (8.0 and later), interpreted ones in phpspy."},
		{"other", "generated functions without names; their program has to write"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *text = generated_of(rows[i].comm, 50, 50);

		assert_non_null(line_with(text, "Advice: 50.0% of samples"));
		if (!line_with(text, rows[i].advice))
			fail_msg("%s: %s", rows[i].comm, line_with(text, "Advice"));
		free(text);
	}
}

/* Interpreters of versions that are not known are seen by the function that runs others. */
static void python_of_unknown_versions_is_advised(void **state)
{
	static const struct {
		const char *interpreter, *advice;
	} rows[] = {
		{"PyEval_EvalFrameEx", "names; only CPython 3.8 and later has them."},
		{"_PyEval_EvalFrameDefault", "names; CPython 3.8 to 3.15 has names; later"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct fake_symbol symbols[] = {
			FAKE_FUNCTION("/usr/bin/app", 0x1000, 0x1100, rows[i].interpreter)};
		struct fake_machine *machine = fake_machine_new();
		char *text;

		fake_process(machine, 100, 1, "python");
		fake_map(machine, 100, 0x400000, 0x410000, 0x1000, "/usr/bin/app");
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400010));
		text = page_of(machine, symbols, ARRAY_SIZE(symbols));
		if (!line_with(text, rows[i].advice))
			fail_msg("%s: %s", rows[i].interpreter, line_with(text, "Advice"));
		free(text);
	}
}

/* native: samples beside those of Python. */
static char *python_page(size_t native)
{
	static const struct fake_symbol symbols[] = {
		FAKE_FUNCTION("/usr/bin/app", 0x1000, 0x1100, "memcpy"),
		{.space = FRAME_ANONYMOUS,
		 .start = 0x901000,
		 .end = 0x901100,
		 .flags = SYMBOL_IS_PYTHON,
		 .lines = {{.function = "Pool.run", .file = "/app/pool.py", .line = 7}}},
		{.space = FRAME_ANONYMOUS,
		 .start = 0x902000,
		 .end = 0x902100,
		 .flags = SYMBOL_IS_PYTHON,
		 .lines = {{.function = "main", .file = "/app/pool.py", .line = 70}}},
	};
	struct fake_machine *machine = fake_machine_new();

	fake_process(machine, 100, 1, "python");
	fake_map(machine, 100, 0x400000, 0x410000, 0x1000, "/usr/bin/app");
	fake_map(machine, 100, 0x900000, 0x910000, 0, "//anon");
	for (int i = 0; i < 3; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400010, 0x901010, 0x902010));
	fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x902010));
	for (size_t i = 0; i < native; i++)
		fake_sample(machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x400010));
	return page_of(machine, symbols, ARRAY_SIZE(symbols));
}

static void the_page_has_functions_of_python(void **state)
{
	char *text = python_page(1);

	assert_non_null(line_with(text, "Python function, self with native code it calls"));
	assert_string_equal(line_with(text, "Pool.run (pool.py)\n"),
			    " 60.0%       3 60.0% Pool.run (pool.py)");
	assert_string_equal(line_with(text, " main (pool.py)\n"),
			    " 20.0%       1 80.0% main (pool.py)");
	free(text);
	/* A program that runs a little of it is none of Python. */
	text = python_page(40);
	assert_null(line_with(text, "Python function"));
	free(text);
}

static void few_samples_without_names_need_no_advice(void **state)
{
	char *text = generated_of("node", 1, 199);

	assert_null(line_with(text, "Advice"));
	free(text);
	text = generated_of("node", 0, 50);
	assert_null(line_with(text, "Advice"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers_are_listed_with_messages_and_answers),
		cmocka_unit_test(regions_are_listed_below_those_around_them),
		cmocka_unit_test(regions_that_ended_oddly_are_told),
		cmocka_unit_test(limits_that_were_reached_are_told_with_how_full_they_are),
		cmocka_unit_test(the_fullest_cgroup_comes_first_and_an_empty_one_tells_nothing),
		cmocka_unit_test(programs_of_each_runtime_are_advised_how_to_have_names),
		cmocka_unit_test(python_of_unknown_versions_is_advised),
		cmocka_unit_test(the_page_has_functions_of_python),
		cmocka_unit_test(few_samples_without_names_need_no_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
