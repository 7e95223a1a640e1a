// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/cgroup_namer: cgroups whose folders are gone. Those that are there:
 * tests/integration/test_containers.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/kernel/cgroup_namer.h"
#include "process/cgroup/cgroup.h"
#include "temp_tree.h"

struct fixture {
	struct temp_tree root; /* stands for the hierarchy: there is nothing in it */
	struct cgroup_namer *namer;
	struct event_buffer told, buffer;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	temp_tree_init(&fixture->root);
	fixture->namer = cgroup_namer_new(cgroup_root_open_at(fixture->root.root));
	assert_non_null(fixture->namer);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	cgroup_namer_free(fixture->namer);
	temp_tree_done(&fixture->root);
	event_buffer_done(&fixture->told);
	event_buffer_done(&fixture->buffer);
	free(fixture);
	return 0;
}

/* What the kernel side says of a cgroup below the root. */
static int tell(struct fixture *fixture, uint64_t id, const char *name)
{
	struct pkbpf_event_cgroup *record;

	event_buffer_clear(&fixture->told);
	record = event_buffer_add(&fixture->told, sizeof(*record) + strlen(name) + 1,
				  PKBPF_EVENT_CGROUP_NAMES, 0, 1);
	assert_non_null(record);
	record->cgroup_id = id;
	strcpy(record->path, name);
	return cgroup_namer_take(fixture->namer, &record->header);
}

/* How many records the last call has brought; *ret_last: the last one. */
static size_t name(struct fixture *fixture, struct cgroup_view *ret_last)
{
	size_t count = 0;

	event_buffer_clear(&fixture->buffer);
	assert_int_equal(cgroup_namer_names(fixture->namer, &fixture->buffer), 0);
	for (size_t at = 0; at < fixture->buffer.size; count++) {
		const struct pkbpf_event_header *header = (const void *)(fixture->buffer.data + at);

		assert_int_equal(cgroup_event_decode(header, ret_last), 0);
		at += header->size;
	}
	return count;
}

static void a_cgroup_that_is_gone_is_named_by_what_was_told(void **state)
{
	struct cgroup_view view;

	assert_int_equal(tell(*state, 1ULL << 40, "gone.service"), 0);
	assert_int_equal(name(*state, &view), 1);
	assert_int_equal(view.cgroup_id, 1ULL << 40);
	assert_false(view.is_container);
	assert_string_equal(view.text, "/gone.service");
}

static void a_cgroup_that_is_gone_and_was_not_told_has_no_name(void **state)
{
	struct fixture *fixture = *state;
	struct cgroup_view view;

	assert_int_equal(cgroup_namer_look(fixture->namer, 1ULL << 40), 0);
	assert_int_equal(cgroup_namer_look(fixture->namer, 0), 0);
	assert_int_equal(name(*state, &view), 0);
}

static void it_is_named_when_it_is_told_after_it_was_seen(void **state)
{
	struct fixture *fixture = *state;
	struct cgroup_view view;

	assert_int_equal(cgroup_namer_look(fixture->namer, 7ULL << 40), 0);
	assert_int_equal(name(*state, &view), 0);
	assert_int_equal(cgroup_namer_unnamed(fixture->namer), 1);
	assert_int_equal(tell(*state, 7ULL << 40, "late"), 0);
	assert_int_equal(name(*state, &view), 1);
	assert_string_equal(view.text, "/late");
	assert_int_equal(cgroup_namer_unnamed(fixture->namer), 0);
}

static void it_is_named_once(void **state)
{
	struct fixture *fixture = *state;
	struct cgroup_view view;

	/* Twice between two looks as well. */
	assert_int_equal(tell(*state, 1ULL << 40, "gone"), 0);
	assert_int_equal(tell(*state, 1ULL << 40, "gone"), 0);
	assert_int_equal(name(*state, &view), 1);
	assert_int_equal(tell(*state, 1ULL << 40, "gone"), 0);
	assert_int_equal(cgroup_namer_look(fixture->namer, 1ULL << 40), 0);
	assert_int_equal(name(*state, &view), 0);
}

static void what_is_no_path_is_refused(void **state)
{
	struct cgroup_view view;

	assert_int_equal(tell(*state, 1ULL << 40, ""), -EBADMSG);
	assert_int_equal(tell(*state, 1ULL << 40, "a/b"), -EBADMSG);
	assert_int_equal(name(*state, &view), 0);
}

static void names_end_where_there_is_no_more_room_for_them(void **state)
{
	char long_name[PKBPF_CGROUP_NAMES_SIZE + 1];
	struct cgroup_view view;
	size_t named = 0, count = CGROUP_NAMER_BYTES_MAX / PKBPF_CGROUP_NAMES_SIZE * 2;

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	for (uint64_t id = 1; id <= count; id++) {
		assert_int_equal(tell(*state, id << 40, long_name), 0);
		named += name(*state, &view);
	}
	assert_in_range(named, count / 2 - 100, count / 2);
	assert_int_equal(cgroup_namer_unnamed(((struct fixture *)*state)->namer), count - named);
}

static void cgroups_beyond_the_limit_have_no_names(void **state)
{
	char number[16];
	struct cgroup_view view;

	for (uint64_t id = 1; id <= CGROUP_NAMER_CGROUPS_MAX + 10; id++) {
		snprintf(number, sizeof(number), "%d", (int)id);
		assert_int_equal(tell(*state, id << 40, number), 0);
	}
	assert_int_equal(name(*state, &view), CGROUP_NAMER_CGROUPS_MAX);
	assert_int_equal(cgroup_namer_unnamed(((struct fixture *)*state)->namer), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(a_cgroup_that_is_gone_is_named_by_what_was_told),
		TEST(a_cgroup_that_is_gone_and_was_not_told_has_no_name),
		TEST(it_is_named_when_it_is_told_after_it_was_seen),
		TEST(it_is_named_once),
		TEST(what_is_no_path_is_refused),
		TEST(names_end_where_there_is_no_more_room_for_them),
		TEST(cgroups_beyond_the_limit_have_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
