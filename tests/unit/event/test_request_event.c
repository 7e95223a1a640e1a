// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/request_event: what a record of a request must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "event/request_event.h"

static struct pkbpf_event_request sound(void)
{
	struct pkbpf_event_request record = {
		.header = {.size = sizeof(record), .kind = PKBPF_EVENT_REQUEST, .time_ns = 1000},
		.start_ns = 100,
		.wall_ns = 500,
	};

	record.part_ns[PKBPF_WAIT_NONE] = 200;
	record.part_ns[PKBPF_WAIT_SLEEP] = 300;
	return record;
}

static void a_sound_record_is_taken(void **state)
{
	struct pkbpf_event_request record = sound();

	(void)state;
	assert_int_equal(request_event_check(&record.header), 0);
}

static void parts_have_to_add_up(void **state)
{
	struct pkbpf_event_request record = sound();

	(void)state;
	record.part_ns[PKBPF_WAIT_SLEEP]--;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
	record.part_ns[PKBPF_WAIT_SLEEP] += 2;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
	record.part_ns[PKBPF_WAIT_SLEEP] = UINT64_MAX;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
}

static void times_have_to_be_possible(void **state)
{
	struct pkbpf_event_request record = sound();

	(void)state;
	record.start_ns = 1001;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
	record = sound();
	record.wall_ns = 901;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
	record = sound();
	record.header.size -= 8;
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
}

static void texts_have_to_end(void **state)
{
	struct pkbpf_event_request record = sound();

	(void)state;
	memset(record.labels[3], 'x', sizeof(record.labels[3]));
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
	record = sound();
	memset(record.comm, 'x', sizeof(record.comm));
	assert_int_equal(request_event_check(&record.header), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_record_is_taken),
		cmocka_unit_test(parts_have_to_add_up),
		cmocka_unit_test(times_have_to_be_possible),
		cmocka_unit_test(texts_have_to_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
