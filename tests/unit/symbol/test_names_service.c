// SPDX-License-Identifier: BSD-2-Clause
/* Questions for names that are none, and how many files stay open. */
#include "symbol/elf/names_service.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "process/file/mapped_file.h"
#include "symbol/elf/names_packet.h"
#include "symbol_fixture.h"

#define PIE    FIXTURE_DIR "/pie"
#define NO_PIE FIXTURE_DIR "/no_pie"
/* More than stay open. */
#define MANY 600

struct question {
	struct names_question head;
	char rest[256 + sizeof(uint64_t)];
	size_t size;
};

static struct question question_of(uint32_t file, uint32_t edition, const char *path,
				   uint64_t address)
{
	struct question question = {.head = {.file = file,
					     .edition = edition,
					     .count = 1,
					     .path_size = (uint32_t)strlen(path) + 1,
					     .folder_size = 1}};

	assert_true(question.head.path_size < 256);
	strcpy(question.rest, path);
	memcpy(question.rest + question.head.path_size + 1, &address, sizeof(address));
	question.size = sizeof(question.head) + question.head.path_size + 1 + sizeof(address);
	return question;
}

/* The name of the function, "" for none; or what the service says. */
static int ask(const struct question *question, int fd, char name[64])
{
	struct reader_request request = {.fd = fd, .bytes = question, .size = question->size};
	struct string_pool *strings = string_pool_new();
	struct reader_reply reply = {.count = 0};
	struct names_answer answer;
	int err = names_service_answer(&request, &reply);

	if (!err) {
		assert_int_equal(reply.count, 1);
		assert_int_equal(names_answer_read(reply.pieces[0].iov_base,
						   reply.pieces[0].iov_len, question->head.count,
						   strings, &answer),
				 0);
		snprintf(name, 64, "%s", answer.lines.count ? answer.lines.items[0].function : "");
		names_answer_done(&answer);
		reply.release(reply.context);
	}
	string_pool_free(strings);
	return err;
}

static void what_is_no_question_is_refused(void **state)
{
	const struct question good = question_of(1, 0, PIE, 0);
	struct question bad = good;
	char name[64];

	bad.size = sizeof(bad.head) - 1;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad.size = good.size - 1;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad = good;
	bad.head.count = UINT32_MAX;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad = good;
	bad.head.path_size = 0;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad.head.path_size = UINT32_MAX;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	/* Of the right size, but the path has no end. */
	bad = good;
	bad.rest[bad.head.path_size - 1] = 'x';
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad = good;
	bad.head.file = MAPPED_FILES_MAX;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
	bad.head.file = UINT32_MAX;
	assert_int_equal(ask(&bad, -1, name), -EINVAL);
}

static void an_id_of_another_edition_is_another_file(void **state)
{
	uint64_t first = find_place(PIE, "local_function").offset,
		 second = find_place(NO_PIE, "outer_function").offset;
	int pie = open(PIE, O_RDONLY), no_pie = open(NO_PIE, O_RDONLY);
	struct question question = question_of(2, 0, PIE, first);
	char name[64];

	assert_int_equal(ask(&question, pie, name), 0);
	assert_string_equal(name, "local_function");
	question = question_of(2, 1, NO_PIE, second);
	assert_int_equal(ask(&question, no_pie, name), 0);
	assert_string_equal(name, "outer_function");
	close(pie);
	close(no_pie);
}

static int count_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static int forget(const uint32_t *ids, size_t size)
{
	const struct reader_request request = {.fd = -1, .bytes = ids, .size = size};
	struct reader_reply reply;

	return names_service_forget(&request, &reply);
}

static void files_that_were_asked_about_long_ago_are_closed(void **state)
{
	uint64_t offset = find_place(PIE, "local_function").offset;
	int fd = open(PIE, O_RDONLY), before = count_open(), most;
	uint32_t ids[MANY];
	char name[64];

	for (uint32_t i = 0; i < MANY; i++) {
		struct question question = question_of(100 + i, 0, PIE, offset);

		ids[i] = 100 + i;
		question.head.count = i % 100 == 0;
		question.size -= question.head.count ? 0 : sizeof(offset);
		assert_int_equal(ask(&question, fd, name), 0);
		assert_string_equal(name, question.head.count ? "local_function" : "");
	}
	most = count_open();
	assert_in_range(most - before, 1, MANY - 50);
	/* The first has been closed, and comes again. */
	for (uint32_t i = 0; i < MANY; i += MANY - 1) {
		struct question question = question_of(100 + i, 0, PIE, offset);

		assert_int_equal(ask(&question, fd, name), 0);
		assert_string_equal(name, "local_function");
	}
	assert_true(count_open() <= most);
	/* Nobody forgets what there is not. */
	assert_int_equal(forget((const uint32_t[]){UINT32_MAX, MAPPED_FILES_MAX}, 8), 0);
	assert_int_equal(forget(NULL, READER_MAX_REQUEST_BYTES + 4), -EINVAL);
	assert_int_equal(forget(ids, sizeof(ids)), 0);
	/* Another test's may have been closed as well. */
	assert_true(count_open() <= before);
	close(fd);
}

static void strings_are_given_up_beyond_a_limit(void **state)
{
	uint64_t offset = find_place(PIE, "local_function").offset;
	struct question question = question_of(7, 0, PIE, offset);
	int fd = open(PIE, O_RDONLY);
	const uint32_t others[] = {99};
	size_t before;
	char name[64];

	assert_int_equal(ask(&question, fd, name), 0);
	before = names_service_strings();
	assert_true(before > 1);
	assert_int_equal(forget(others, sizeof(others)), 0);
	assert_int_equal(names_service_strings(), before);
	names_service_limit_strings(before - 1);
	assert_int_equal(forget(others, sizeof(others)), 0);
	assert_int_equal(names_service_strings(), 0);
	/* The file that was not forgotten is read again. */
	assert_int_equal(ask(&question, fd, name), 0);
	assert_string_equal(name, "local_function");
	assert_true(names_service_strings() <= before);
	names_service_limit_strings(1U << 18);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_question_is_refused),
		cmocka_unit_test(an_id_of_another_edition_is_another_file),
		cmocka_unit_test(strings_are_given_up_beyond_a_limit),
		cmocka_unit_test(files_that_were_asked_about_long_ago_are_closed),
	};

	elf_version(EV_CURRENT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
