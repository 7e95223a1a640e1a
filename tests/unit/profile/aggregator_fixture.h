/* SPDX-License-Identifier: BSD-2-Clause */
/* A server process whose samples go through the aggregator, and looks at the rows they become. */
#ifndef PKBPF_TEST_AGGREGATOR_FIXTURE_H
#define PKBPF_TEST_AGGREGATOR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_profile.h"

#define SERVER "/usr/bin/server"
#define LIBC   "/usr/lib/libc.so.6"

struct fixture {
	struct fake_machine *machine;
	struct fake_profile fake;
};

static inline int setup(void **state)
{
	static struct fixture fixture;

	fixture.machine = fake_machine_new();
	fake_profile_init(&fixture.fake, NULL);
	fake_process(fixture.machine, 100, 1, "server");
	fake_map(fixture.machine, 100, 0x400000, 0x500000, 0x1000, SERVER);
	fake_map(fixture.machine, 100, 0x7f0000000000, 0x7f0000100000, 0x22000, LIBC);
	*state = &fixture;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;

	fake_machine_free(fixture->machine);
	fake_profile_done(&fixture->fake);
	return 0;
}

static inline void play(struct fixture *fixture)
{
	struct event_sink sink = aggregator_sink(fixture->fake.aggregator);

	fake_play_new(fixture->machine, &sink);
}

static inline const struct profile_row *row_at(struct fixture *fixture, size_t index)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fixture->fake.profile, &count);

	assert_true(index < count);
	return &rows[index];
}

static inline size_t row_count(struct fixture *fixture)
{
	size_t count;

	profile_rows(fixture->fake.profile, &count);
	return count;
}

/* Location of frame `depth` (leaf 0) of row `row`. */
static inline const struct frame_location *location_at(struct fixture *fixture, size_t row,
						       size_t depth)
{
	size_t count;
	const uint32_t *frames =
		profile_stack(fixture->fake.profile, row_at(fixture, row)->stack, &count);

	assert_true(depth < count);
	return &profile_frame(fixture->fake.profile, frames[depth])->location;
}

static inline size_t depth_of(struct fixture *fixture, size_t row)
{
	size_t count;

	profile_stack(fixture->fake.profile, row_at(fixture, row)->stack, &count);
	return count;
}

static inline const char *path_at(struct fixture *fixture, size_t row, size_t depth)
{
	const struct frame_location *location = location_at(fixture, row, depth);

	assert_int_equal(location->space, FRAME_FILE);
	return mapped_file_table_get(fixture->fake.files, location->object)->path;
}

static inline struct sample_view user_sample(uint32_t pid, struct fake_ips user,
					     enum pkbpf_stack_end end)
{
	return (struct sample_view){
		.pid = pid,
		.tid = pid,
		.user_end = end,
		.count = 1,
		.weight = 1,
		.user_ips = user.items,
		.user_count = user.count,
	};
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
