// SPDX-License-Identifier: BSD-2-Clause
// Tests that frames are named once, rows and stack ends add up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "fake_profile.h"
#include "profile/kind_table.h"
#include "profile/stack_end.h"

static const struct fake_symbol symbols[] = {
	{.space = FRAME_KERNEL,
	 .start = 0x1000,
	 .end = 0x2000,
	 .lines = {{.function = "schedule"}}},
};

static void every_location_is_looked_up_once(void **state)
{
	struct fake_profile fake;
	struct frame_location location = {.space = FRAME_KERNEL, .address = 0x1234};
	uint32_t first, second;

	fake_profile_init(&fake, NULL);
	first = profile_intern_frame(fake.profile, &location);
	assert_int_equal(profile_intern_frame(fake.profile, &location), first);
	fake_profile_name(&fake, symbols, ARRAY_SIZE(symbols));
	assert_int_equal(fake_symbols_asked(fake.symbolizer), 1);
	location.address = 0x1235;
	second = profile_intern_frame(fake.profile, &location);
	assert_int_not_equal(second, first);
	fake_profile_name(&fake, symbols, ARRAY_SIZE(symbols));
	assert_int_equal(fake_symbols_asked(fake.symbolizer), 2);
	assert_string_equal(profile_frame(fake.profile, second)->symbol.lines[0].function,
			    "schedule");
	fake_profile_done(&fake);
}

static void all_parts_of_a_location_tell_frames_apart(void **state)
{
	static const struct frame_location locations[] = {
		{.space = FRAME_FILE, .object = 1, .address = 5},
		{.space = FRAME_FILE, .object = 2, .address = 5},
		{.space = FRAME_FILE, .object = 1, .address = 6},
		{.space = FRAME_ANONYMOUS, .object = 1, .address = 5},
		{.space = FRAME_FILE, .object = 1, .address = 5, .is_return_address = true},
	};
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(locations); i++)
		assert_int_equal(profile_intern_frame(fake.profile, &locations[i]), i);
	assert_int_equal(profile_frame_count(fake.profile), ARRAY_SIZE(locations));
	assert_null(profile_frame(fake.profile, ARRAY_SIZE(locations)));
	fake_profile_done(&fake);
}

static void a_truncated_frame_is_named_without_asking(void **state)
{
	struct frame_location location = {.space = FRAME_TRUNCATED, .address = PKBPF_END_NO_RULE};
	struct fake_profile fake;
	uint32_t frame;

	fake_profile_init(&fake, NULL);
	frame = profile_intern_frame(fake.profile, &location);
	fake_profile_name(&fake, NULL, 0);
	assert_int_equal(fake_symbols_asked(fake.symbolizer), 0);
	assert_string_equal(profile_frame(fake.profile, frame)->symbol.lines[0].function,
			    "[truncated: no unwind info]");
	fake_profile_done(&fake);
}

static void rows_differ_by_every_part_of_their_key(void **state)
{
	struct profile_row rows[] = {
		{.count = 1, .weight = 1},
		{.kind = PKBPF_PROFILE_OFFCPU, .count = 1, .weight = 1},
		{.process = 1, .count = 1, .weight = 1},
		{.tid = 1, .count = 1, .weight = 1},
		{.comm = 1, .count = 1, .weight = 1},
		{.stack = 1, .count = 1, .weight = 1},
		{.state = 1, .count = 1, .weight = 1},
	};
	struct fake_profile fake;
	const struct profile_row *kept;
	size_t count;

	fake_profile_init(&fake, NULL);
	for (unsigned int round = 0; round < 2; round++)
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			assert_int_equal(profile_add(fake.profile, &rows[i]), 0);
	kept = profile_rows(fake.profile, &count);
	assert_int_equal(count, ARRAY_SIZE(rows));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(kept[i].weight, 2);
	/* All but the off-CPU row are CPU samples. */
	assert_int_equal(profile_account(fake.profile).recorded, 2 * (ARRAY_SIZE(rows) - 1));
	fake_profile_done(&fake);
}

static void stack_ends_are_counted_per_process_and_in_all(void **state)
{
	struct fake_profile fake;

	fake_profile_init(&fake, NULL);
	profile_count_end(fake.profile, 7, PKBPF_END_ROOT, 3, 1);
	profile_count_end(fake.profile, 900, PKBPF_END_ROOT, 4, 0);
	profile_count_end(fake.profile, 7, PKBPF_END_NO_RULE, 1, 2);
	profile_count_end(fake.profile, 7, (enum pkbpf_stack_end)200, 1, 0);
	profile_count_end(fake.profile, 7, PKBPF_END_ROOT, 5, 0);
	/* Complete, but with a frame that nothing verifies. */
	assert_int_equal(profile_end_count(fake.profile, 7, PKBPF_END_GUESSED), 3);
	assert_int_equal(profile_end_count(fake.profile, 7, PKBPF_END_ROOT), 5);
	/* A return address of 0 may be any word of the stack. */
	profile_count_end(fake.profile, 8, PKBPF_END_ZERO_RA, 2, 0);
	profile_count_end(fake.profile, 8, PKBPF_END_FP_ROOT, 1, 0);
	assert_int_equal(profile_end_count(fake.profile, 8, PKBPF_END_GUESSED), 3);
	assert_int_equal(profile_end_count(fake.profile, 8, PKBPF_END_ZERO_RA), 0);
	assert_int_equal(profile_end_count(fake.profile, 7, PKBPF_END_NO_RULE), 1);
	assert_int_equal(profile_end_count(fake.profile, 900, PKBPF_END_ROOT), 4);
	assert_int_equal(profile_end_count(fake.profile, 8, PKBPF_END_ROOT), 0);
	assert_int_equal(profile_end_count(fake.profile, UINT32_MAX, PKBPF_END_ROOT), 9);
	assert_int_equal(profile_end_count(fake.profile, UINT32_MAX, (enum pkbpf_stack_end)200), 0);
	assert_int_equal(profile_guessed_frames(fake.profile), 5);
	fake_profile_done(&fake);
}

/* Of 64 bits that look random: no other choice of counters has the same sum. */
static uint64_t number_of(enum pkbpf_counter counter)
{
	return hash_u64(counter + 1);
}

static const enum pkbpf_loss losses[PKBPF_COUNTER_COUNT] = {
#define X(name, loss, text) [PKBPF_COUNTER_##name] = loss,
	PKBPF_COUNTERS(X)
#undef X
};

static void every_loss_counter_counts_as_lost_and_no_other(void **state)
{
	struct fake_profile fake;
	uint64_t expected[PKBPF_LOSS_NOTE + 1] = {0};

	fake_profile_init(&fake, NULL);
	for (unsigned int i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		uint64_t number = number_of((enum pkbpf_counter)i);

		profile_info(fake.profile)->counters[i] = number;
		expected[losses[i]] += number;
	}
	assert_int_equal(profile_account(fake.profile).lost, expected[PKBPF_LOSS_SAMPLE]);
	assert_int_equal(profile_account(fake.profile).lost_other, expected[PKBPF_LOSS_OTHER]);
	assert_int_equal(profile_account(fake.profile).expected,
			 number_of(PKBPF_COUNTER_CPU_EXPECTED));
	fake_profile_done(&fake);
}

static void every_stack_end_has_a_text_of_its_own(void **state)
{
	for (unsigned int end = 0; end < PKBPF_END_COUNT; end++) {
		char frame[128];

		assert_string_not_equal(stack_end_text(end), stack_end_text(PKBPF_END_COUNT));
		for (unsigned int other = 0; other < end; other++)
			assert_string_not_equal(stack_end_text(end), stack_end_text(other));
		/* Many stacks as one are no truncated stack. */
		snprintf(frame, sizeof(frame), end == PKBPF_END_OTHERS ? "[%s]" : "[truncated: %s]",
			 stack_end_text(end));
		assert_string_equal(stack_end_line(end)->function, frame);
	}
}

static void complete_and_truncated_exclude_each_other(void **state)
{
	for (unsigned int end = 0; end < PKBPF_END_COUNT; end++)
		assert_false(stack_end_is_complete(end) && stack_end_is_truncated(end));
	assert_false(stack_end_is_complete(PKBPF_END_NONE));
	assert_false(stack_end_is_truncated(PKBPF_END_NONE));
	assert_true(stack_end_is_complete(PKBPF_END_FP_ROOT));
	assert_false(stack_end_is_complete(PKBPF_END_UNVERIFIED));
	assert_false(stack_end_is_truncated(PKBPF_END_UNVERIFIED));
	assert_true(stack_end_is_truncated(PKBPF_END_MAX_DEPTH));
}

static void weights_are_rounded_to_the_folded_unit(void **state)
{
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_CPU, 17), 17);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_FAULTS, 17), 17);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_OFFCPU, 1499), 1);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_OFFCPU, 1500), 2);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_BLOCKIO, 499), 0);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_CPU, UINT64_MAX), UINT64_MAX);
	assert_int_equal(profile_kind_folded(PKBPF_PROFILE_OFFCPU, UINT64_MAX),
			 UINT64_MAX / 1000 + 1);
}

static void a_kind_of_a_later_version_has_a_row(void **state)
{
	assert_string_equal(kind_ops_of((enum pkbpf_profile_kind)77)->name, "unknown");
	assert_string_equal(kind_ops_of(PKBPF_PROFILE_OFFCPU)->folded_unit, "us");
}

static void names_made_up_without_end_become_one(void **state)
{
	struct fake_profile fake;
	uint32_t first, others;
	char name[32];

	fake_profile_init(&fake, NULL);
	first = profile_intern_comm(fake.profile, "server");
	for (int i = 0; i < 2 * PROFILE_MAX_NAMES; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		profile_intern_comm(fake.profile, name);
	}
	others = profile_intern_comm(fake.profile, "one more");
	assert_string_equal(profile_string(fake.profile, others), PROFILE_OTHER_NAMES);
	assert_in_range(others, PROFILE_MAX_NAMES - 1, PROFILE_MAX_NAMES + 1);
	assert_int_equal(profile_intern_comm(fake.profile, "and another"), others);
	/* Those that were there first keep theirs. */
	assert_int_equal(profile_intern_comm(fake.profile, "server"), first);
	assert_string_equal(
		profile_string(fake.profile, profile_intern_comm(fake.profile, "name 7")),
		"name 7");
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_location_is_looked_up_once),
		cmocka_unit_test(all_parts_of_a_location_tell_frames_apart),
		cmocka_unit_test(a_truncated_frame_is_named_without_asking),
		cmocka_unit_test(rows_differ_by_every_part_of_their_key),
		cmocka_unit_test(stack_ends_are_counted_per_process_and_in_all),
		cmocka_unit_test(every_loss_counter_counts_as_lost_and_no_other),
		cmocka_unit_test(every_stack_end_has_a_text_of_its_own),
		cmocka_unit_test(complete_and_truncated_exclude_each_other),
		cmocka_unit_test(weights_are_rounded_to_the_folded_unit),
		cmocka_unit_test(a_kind_of_a_later_version_has_a_row),
		cmocka_unit_test(names_made_up_without_end_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
