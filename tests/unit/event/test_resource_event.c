// SPDX-License-Identifier: BSD-2-Clause
/* Tests for event/resource_event: the path that the names of a cgroup's folders make. The other
 * records: test_resource_usage.c. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/array.h"
#include "encoder_fixture.h"
#include "event/resource_event.h"

/* names: `size` bytes, as the kernel side writes them. */
static const struct pkbpf_event_header *encode(struct event_buffer *buffer, const char *names,
					       size_t size)
{
	struct pkbpf_event_cgroup *record;

	event_buffer_clear(buffer);
	record = event_buffer_add(buffer, sizeof(*record) + size, PKBPF_EVENT_CGROUP_NAMES, 0, 1);
	assert_non_null(record);
	record->cgroup_id = 42;
	memcpy(record->path, names, size);
	return &record->header;
}

static void names_make_a_path_with_the_outermost_first(void **state)
{
	static const struct {
		const char names[24];
		size_t size;
		const char *path;
	} cases[] = {
		{"a", 2, "/a"},
		{"docker-1.scope\0x.slice", 23, "/x.slice/docker-1.scope"},
		{"c\0b\0a", 6, "/a/b/c"},
		{"1234567", 8, "/1234567"}, /* without padding */
		{"12\0\0xx", 7, "/12"},	    /* what comes after an empty name is padding */
	};
	char path[PATH_MAX];
	uint64_t id = 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
			cgroup_names_event_decode(encode(*state, cases[i].names, cases[i].size),
						  &id, path, sizeof(path)),
			0);
		assert_string_equal(path, cases[i].path);
		assert_int_equal(id, 42);
	}
}

static void names_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char names[16];
		size_t size;
	} cases[] = {
		{"", 0},    {"", 8},  {"\0a", 8},
		{"a/b", 8}, {"/", 8}, {"1234567\0abcdefgh", 16}, /* the last one does not end */
	};
	struct pkbpf_event_header *other;
	char path[PATH_MAX];
	uint64_t id;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
			cgroup_names_event_decode(encode(*state, cases[i].names, cases[i].size),
						  &id, path, sizeof(path)),
			-EBADMSG);
	other = (struct pkbpf_event_header *)(uintptr_t)encode(*state, "a", 2);
	other->kind = PKBPF_EVENT_CGROUP;
	assert_int_equal(cgroup_names_event_decode(other, &id, path, sizeof(path)), -EBADMSG);
}

static void a_path_longer_than_its_room_is_refused(void **state)
{
	const struct pkbpf_event_header *record = encode(*state, "34\0001", 5);
	char path[16];
	uint64_t id;

	for (size_t size = 1; size < strlen("/1/34") + 1; size++)
		assert_int_equal(cgroup_names_event_decode(record, &id, path, size), -EBADMSG);
	assert_int_equal(cgroup_names_event_decode(record, &id, path, strlen("/1/34") + 1), 0);
	assert_string_equal(path, "/1/34");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENCODER_TEST(names_make_a_path_with_the_outermost_first),
		ENCODER_TEST(names_that_cannot_be_are_refused),
		ENCODER_TEST(a_path_longer_than_its_room_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
