// SPDX-License-Identifier: BSD-2-Clause
// Tests the sums behind a report.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "fake_profile.h"
#include "rows/tally.h"

#define APP "/usr/bin/app"

static const struct fake_symbol symbols[] = {
	FAKE_FUNCTION(APP, 0x1000, 0x1100, "main"),
	FAKE_FUNCTION(APP, 0x1100, 0x1200, "walk"),
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1200,
	 .end = 0x1300,
	 .lines = {{.function = "tiny", .inlined = true}, {.function = "walk"}}},
	{.space = FRAME_FILE,
	 .path = APP,
	 .start = 0x1300,
	 .end = 0x1400,
	 .result = SYMBOL_STRIPPED},
};

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
	struct tally tally;
};

static int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fake_profile_init(&fixture.fake, NULL);
	fake_process(fixture.machine, 100, 1, "app");
	fake_map(fixture.machine, 100, 0x401000, 0x410000, 0x1000, APP);
	fake_process(fixture.machine, 200, 1, "app");
	fake_map(fixture.machine, 200, 0x501000, 0x510000, 0x1000, APP);
	memset(&fixture.tally, 0, sizeof(fixture.tally));
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	tally_done(&fixture->tally);
	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

static const struct tally *tally_of(struct fixture *fixture, enum pkbpf_profile_kind kind)
{
	fake_profile_run(&fixture->fake, fixture->machine, symbols, ARRAY_SIZE(symbols));
	assert_int_equal(tally_init(&fixture->tally, fixture->fake.profile, kind, false), 0);
	return &fixture->tally;
}

static struct tally_function function_named(const struct tally *tally, const char *name)
{
	for (size_t i = 0; i < tally->function_count; i++)
		if (!strcmp(function_table_get(tally->functions, tally->by_self[i].function)->name,
			    name))
			return tally->by_self[i];
	fail_msg("no function %s", name);
	return (struct tally_function){0};
}

static void recursion_counts_once_per_stack(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;

	/* walk stands in this stack three times, once around an inlined function. */
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(),
		    FAKE_IPS(0x401110, 0x401120, 0x401210, 0x401010));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	assert_int_equal(function_named(tally, "walk").total, 1);
	assert_int_equal(function_named(tally, "walk").self, 1);
	assert_int_equal(function_named(tally, "tiny").total, 1);
	assert_int_equal(function_named(tally, "tiny").self, 0);
	assert_int_equal(function_named(tally, "main").total, 1);
}

static void recursion_counts_again_in_every_further_stack(void **state)
{
	struct fixture *fixture = *state;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110, 0x401120));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401120, 0x401120));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x501110, 0x501120));
	assert_int_equal(function_named(tally_of(fixture, PKBPF_PROFILE_CPU), "walk").total, 3);
}

static void self_sums_to_the_weight_of_all(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;
	uint64_t self = 0, processes = 0, stacks = 0;

	for (uint64_t i = 0; i < 40; i++)
		fake_sample(fixture->machine, i % 3 ? 100 : 200, i % 3 ? 100 : 200, FAKE_IPS(),
			    FAKE_IPS((i % 3 ? 0x401000 : 0x501000) + i * 24,
				     (i % 3 ? 0x401010 : 0x501010)));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	for (size_t i = 0; i < tally->function_count; i++)
		self += tally->by_self[i].self;
	for (size_t i = 0; i < tally->process_count; i++)
		processes += tally->processes[i].weight;
	for (size_t i = 0; i < tally->stack_count; i++)
		stacks += tally->stacks[i].weight;
	assert_int_equal(tally->weight, 40);
	assert_int_equal(self, 40);
	assert_int_equal(processes, 40);
	assert_int_equal(stacks, 40);
}

static void everything_is_sorted_by_weight(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;

	for (size_t i = 0; i < 3; i++)
		fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x501110, 0x501010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	assert_int_equal(tally->processes[0].weight, 3);
	assert_int_equal(tally->processes[1].weight, 1);
	assert_string_equal(
		function_table_get(tally->functions, tally->processes[0].hottest_function)->name,
		"walk");
	assert_string_equal(function_table_get(tally->functions, tally->by_self[0].function)->name,
			    "walk");
	assert_string_equal(function_table_get(tally->functions, tally->by_total[0].function)->name,
			    "main");
	assert_int_equal(tally->stacks[0].weight, 3);
}

static void equal_stacks_of_several_processes_are_one(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401110, 0x401010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401120, 0x401010));
	fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x501130, 0x501010));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	assert_int_equal(tally->stack_count, 1);
	assert_int_equal(tally->stacks[0].weight, 3);
	assert_int_equal(tally->stacks[0].process_count, 2);
}

static void the_hottest_function_of_a_process_is_its_own(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;

	for (size_t i = 0; i < 5; i++)
		fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	for (uint64_t i = 0; i < 4; i++)
		fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x501110 + i));
	for (uint64_t i = 0; i < 3; i++)
		fake_sample(fixture->machine, 200, 200, FAKE_IPS(), FAKE_IPS(0x501010 + i));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	assert_int_equal(tally->processes[0].weight, 7);
	assert_int_equal(tally->processes[0].hottest_weight, 4);
	assert_string_equal(
		function_table_get(tally->functions, tally->processes[0].hottest_function)->name,
		"walk");
	assert_string_equal(
		function_table_get(tally->functions, tally->processes[1].hottest_function)->name,
		"main");
}

static void addresses_without_a_name_are_counted_by_reason(void **state)
{
	struct fixture *fixture = *state;
	const struct tally *tally;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401310, 0x401320, 0x401010));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401310, 0x77));
	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010, 0x401310));
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	/* 0x401310, as leaf and as a return address, and 0x401320. */
	assert_int_equal(tally->unnamed[SYMBOL_STRIPPED].addresses, 2);
	assert_int_equal(tally->unnamed[SYMBOL_STRIPPED].self_weight, 2);
	assert_int_equal(tally->unnamed[SYMBOL_UNMAPPED].addresses, 1);
	assert_int_equal(tally->unnamed[SYMBOL_UNMAPPED].self_weight, 0);
	assert_int_equal(tally->unnamed[SYMBOL_NO_FILE].addresses, 0);
}

static void other_kinds_stay_out(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t user[] = {0x401310};
	struct sample_view sample = {
		.pid = 100,
		.tid = 100,
		.kind = PKBPF_PROFILE_OFFCPU,
		.count = 2,
		.weight = 5000,
		.user_end = PKBPF_END_ROOT,
		.user_ips = user,
		.user_count = 1,
	};
	const struct tally *tally;

	fake_sample(fixture->machine, 100, 100, FAKE_IPS(), FAKE_IPS(0x401010));
	fake_sample_view(fixture->machine, &sample);
	tally = tally_of(fixture, PKBPF_PROFILE_CPU);
	assert_int_equal(tally->weight, 1);
	assert_int_equal(tally->function_count, 1);
	assert_int_equal(tally->unnamed[SYMBOL_STRIPPED].addresses, 0);
	tally_done(&fixture->tally);
	assert_int_equal(
		tally_init(&fixture->tally, fixture->fake.profile, PKBPF_PROFILE_OFFCPU, false), 0);
	assert_int_equal(fixture->tally.weight, 5000);
	assert_int_equal(fixture->tally.count, 2);
}

static void an_empty_profile_sums_to_nothing(void **state)
{
	const struct tally *tally = tally_of(*state, PKBPF_PROFILE_CPU);

	assert_int_equal(tally->weight, 0);
	assert_int_equal(tally->process_count, 0);
	assert_int_equal(tally->function_count, 0);
	assert_int_equal(tally->stack_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(recursion_counts_once_per_stack),
		TEST(recursion_counts_again_in_every_further_stack),
		TEST(self_sums_to_the_weight_of_all),
		TEST(everything_is_sorted_by_weight),
		TEST(equal_stacks_of_several_processes_are_one),
		TEST(the_hottest_function_of_a_process_is_its_own),
		TEST(addresses_without_a_name_are_counted_by_reason),
		TEST(other_kinds_stay_out),
		TEST(an_empty_profile_sums_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
