// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/decoder: records of every kind, as they are, cut, lengthened and unknown. */
#include <errno.h>

#include "record_examples.h"

static void set_size(struct event_buffer *buffer, uint32_t size)
{
	memcpy(buffer->data, &size, sizeof(size));
}

static void rejects_every_record_cut_anywhere(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		assert_int_equal(decode_copy(buffer.data, buffer.size), (int)buffer.size);
		assert_int_equal(delivered, 1);
		for (size_t size = 0; size < buffer.size; size++) {
			assert_int_equal(decode_copy(buffer.data, size), -EMSGSIZE);
			assert_int_equal(delivered, 0);
		}
	}
	event_buffer_done(&buffer);
}

static void rejects_every_record_whose_size_says_less_than_its_contents(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		for (size_t size = 16; size < buffer.size; size += 8) {
			set_size(&buffer, (uint32_t)size);
			assert_int_equal(decode_copy(buffer.data, size), -EBADMSG);
			assert_int_equal(delivered, 0);
		}
	}
	event_buffer_done(&buffer);
}

static void accepts_records_with_more_at_their_end(void **state)
{
	struct event_buffer buffer = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		uint64_t larger[512] = {0};

		encode_kind(&buffer, kinds[i]);
		memcpy(larger, buffer.data, buffer.size);
		((struct pkbpf_event_header *)(void *)larger)->size = sizeof(larger);
		assert_int_equal(decode_copy(larger, sizeof(larger)), (int)sizeof(larger));
		assert_int_equal(delivered, 1);
	}
	event_buffer_done(&buffer);
}

static void rejects_headers_that_are_none(void **state)
{
	static const struct {
		uint32_t size;
		uint16_t kind;
		int result;
	} rows[] = {
		{0, 2, -EBADMSG},
		{8, 2, -EBADMSG},
		{15, 2, -EBADMSG},
		{48, 0, -EBADMSG},
		{50, 2, -EBADMSG},
		{EVENT_MAX_RECORD_SIZE + 8, 2, -EBADMSG},
		{UINT32_MAX - 7, 2, -EBADMSG},
		{EVENT_MAX_RECORD_SIZE, 2, -EMSGSIZE},
		{48, 2, 48},
		{16, 2, -EBADMSG},
		{16, 500, 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pkbpf_event_task task = {
			.header = {.size = rows[i].size, .kind = rows[i].kind}};

		assert_int_equal(decode_copy(&task, sizeof(task)), rows[i].result);
		assert_int_equal(delivered, rows[i].result > 0);
	}
}

static void shows_kinds_of_later_versions_as_bytes(void **state)
{
	struct pkbpf_event_header header = {.size = sizeof(header), .kind = 16};

	assert_int_equal(decode_copy(&header, sizeof(header)), sizeof(header));
	assert_int_equal(delivered, 1);
}

static void sinks_that_are_not_interested_are_left_alone(void **state)
{
	static const struct event_sink_ops deaf = {0};
	struct event_buffer buffer = {0};
	struct event_sink sink = {&deaf, NULL};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		encode_kind(&buffer, kinds[i]);
		assert_int_equal(event_decode(buffer.data, buffer.size, &sink), (int)buffer.size);
	}
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rejects_every_record_cut_anywhere),
		cmocka_unit_test(rejects_every_record_whose_size_says_less_than_its_contents),
		cmocka_unit_test(accepts_records_with_more_at_their_end),
		cmocka_unit_test(rejects_headers_that_are_none),
		cmocka_unit_test(shows_kinds_of_later_versions_as_bytes),
		cmocka_unit_test(sinks_that_are_not_interested_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
