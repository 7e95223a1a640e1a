// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the row of every kind of event is complete, and what is asked of all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "event/counter_table.h"
#include "profile/kind_table.h"

static void every_row_is_complete(void **state)
{
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const struct kind_ops *row = kind_ops_of(kind);

		assert_non_null(row);
		assert_true(row->name[0] && row->title[0] && row->count_unit[0]);
		assert_true(row->folded_unit[0] && row->folded_divisor);
		for (unsigned int other = 0; other < kind; other++)
			assert_string_not_equal(row->name, kind_ops_of(other)->name);
	}
}

static void what_counts_losses_of_a_kind_is_a_loss(void **state)
{
	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		const struct kind_ops *row = kind_ops_of(kind);

		assert_true(PKBPF_IS_LOSS(counter_table[row->no_memory].loss));
		for (size_t i = 0; row->losses[i]; i++)
			assert_true(PKBPF_IS_LOSS(counter_table[row->losses[i]].loss));
	}
}

static void losses_are_those_of_the_kind_alone(void **state)
{
	uint64_t counters[PKBPF_COUNTER_COUNT] = {[PKBPF_COUNTER_CPU_EXPECTED] = 100,
						  [PKBPF_COUNTER_OFFCPU_RING_FULL] = 7,
						  [PKBPF_COUNTER_BLOCKIO_LOST] = 9};

	assert_int_equal(profile_kind_lost(PKBPF_PROFILE_OFFCPU, counters), 7);
	assert_int_equal(profile_kind_lost(PKBPF_PROFILE_BLOCKIO, counters), 9);
	assert_int_equal(profile_kind_lost(PKBPF_PROFILE_FAULTS, counters), 0);
	assert_int_equal(profile_kind_lost(PKBPF_PROFILE_CPU, counters), 0);
}

static void only_cpu_samples_are_expected(void **state)
{
	assert_int_equal(profile_kinds_expected(), 1U << PKBPF_PROFILE_CPU);
}

static void a_kind_of_a_later_version_has_a_neutral_row(void **state)
{
	assert_string_equal(kind_ops_of(PKBPF_PROFILE_KINDS)->name, "unknown");
	assert_string_equal(kind_ops_of((enum pkbpf_profile_kind) - 1)->name, "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_complete),
		cmocka_unit_test(what_counts_losses_of_a_kind_is_a_loss),
		cmocka_unit_test(losses_are_those_of_the_kind_alone),
		cmocka_unit_test(only_cpu_samples_are_expected),
		cmocka_unit_test(a_kind_of_a_later_version_has_a_neutral_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
