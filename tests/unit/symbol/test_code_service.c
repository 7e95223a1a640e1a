// SPDX-License-Identifier: BSD-2-Clause
/* Tests cutting of perf maps and jitdumps by somebody else, and what of answers is believed. */
#include "symbol/jit/code_service.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "reader/readers.h"
#include "symbol/jit/code_asker.h"
#include "symbol/jit/code_packet.h"

static const char lines[] = "1000 100 first\n2000 100 _ZN3one3twoEv\n3000 100 third\n";

struct packed_question {
	struct code_question head;
	struct code_range ranges[4];
};

struct answer {
	unsigned char bytes[4096];
	size_t size;
};

struct seen {
	char text[1024];
	unsigned int left; /* entries until it is enough */
};

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct seen *seen = context;
	size_t length = strlen(seen->text);

	snprintf(seen->text + length, sizeof(seen->text) - length, "%llu:%llx+%x %.*s;",
		 (unsigned long long)offset, (unsigned long long)entry->start, entry->size,
		 (int)entry->name_size, entry->name);
	assert_true(entry->is_plain);
	return --seen->left > 0;
}

static int cut(const void *file, size_t size, const struct packed_question *question,
	       struct answer *answer)
{
	struct reader_request request = {
		.fd = reader_memory_file(file, size),
		.bytes = question,
		.size = sizeof(question->head) +
			question->head.range_count * sizeof(question->ranges[0]),
	};
	struct reader_reply reply = {.count = 0};
	int err = code_service_cut(&request, &reply);

	close(request.fd);
	answer->size = 0;
	if (err)
		return err;
	assert_int_equal(reply.count, 1);
	assert_true(reply.pieces[0].iov_len <= sizeof(answer->bytes));
	answer->size = reply.pieces[0].iov_len;
	memcpy(answer->bytes, reply.pieces[0].iov_base, answer->size);
	reply.release(reply.context);
	return 0;
}

static struct packed_question question_of(uint64_t end, uint64_t first, uint64_t last)
{
	return (struct packed_question){
		.head = {.end = end,
			 .max_bytes = UINT64_MAX,
			 .records = 100,
			 .range_count = 1,
			 .is_last = true},
		.ranges = {{first, last}},
	};
}

static int take(const struct answer *answer, uint64_t end, struct code_cursor *cursor,
		unsigned int most, struct seen *seen)
{
	const struct code_piece piece = {end, UINT64_MAX, true};
	uint32_t records = 100;

	*seen = (struct seen){.left = most};
	return code_answer_take(answer->bytes, answer->size, &piece, cursor, &records,
				&(struct code_taker){take_entry, seen});
}

static void lines_of_sampled_addresses_come_with_plain_names(void **state)
{
	struct packed_question question = question_of(sizeof(lines) - 1, 0x2000, 0x3010);
	struct code_cursor cursor = {0};
	struct answer answer;
	struct seen seen;

	assert_int_equal(cut(lines, sizeof(lines) - 1, &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(lines) - 1, &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "15:2000+100 one::two;38:3000+100 third;");
	assert_int_equal(cursor.offset, sizeof(lines) - 1);
}

static void ranges_are_told_apart(void **state)
{
	struct packed_question question = question_of(sizeof(lines) - 1, 0x10ff, 0x10ff);
	struct code_cursor cursor = {0};
	struct answer answer;
	struct seen seen;

	question.head.range_count = 3;
	question.ranges[1] = (struct code_range){0x1100, 0x1fff};
	question.ranges[2] = (struct code_range){0x30ff, 0x5000};
	assert_int_equal(cut(lines, sizeof(lines) - 1, &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(lines) - 1, &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "0:1000+100 first;38:3000+100 third;");
}

static void what_is_not_taken_comes_again(void **state)
{
	struct packed_question question = question_of(sizeof(lines) - 1, 0, 0x9000);
	struct code_cursor cursor = {0};
	struct answer answer;
	struct seen seen;

	assert_int_equal(cut(lines, sizeof(lines) - 1, &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(lines) - 1, &cursor, 1, &seen), 1);
	assert_string_equal(seen.text, "0:1000+100 first;");
	question.head.offset = cursor.offset;
	assert_int_equal(cut(lines, sizeof(lines) - 1, &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(lines) - 1, &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "15:2000+100 one::two;38:3000+100 third;");
}

static void code_that_moved_is_named_as_long_as_it_may_be_searched(void **state)
{
	struct {
		uint32_t header[6];
		uint64_t more[2];
		uint32_t load[2];
		uint64_t load_time_ns;
		uint32_t load_ids[2];
		uint64_t load_code[4];
		char name[8];
		uint32_t move[2];
		uint64_t move_time_ns;
		uint32_t move_ids[2];
		uint64_t move_code[5];
	} dump = {
		.header = {0x4a695444, 1, 40, 62, 0, 4711},
		.load = {0, 64},
		.load_code = {0x1000, 0x1000, 32, 7},
		.name = "f",
		.move = {1, 64},
		.move_time_ns = 5000,
		.move_code = {0x3000, 0x1000, 0x3000, 32, 7},
	};
	struct packed_question question = question_of(sizeof(dump), 0x3000, 0x3000);
	struct code_cursor cursor = {.offset = 40};
	struct answer answer;
	struct seen seen;

	question.head.offset = 40;
	question.head.is_jitdump = question.head.times_known = true;
	assert_int_equal(cut(&dump, sizeof(dump), &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(dump), &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "104:3000+20 f;");
	/* Once no more may be looked at, it is code whose name is not known. */
	question.head.records = 0;
	cursor.offset = 40;
	assert_int_equal(cut(&dump, sizeof(dump), &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(dump), &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "104:3000+20 ;");
	/* What it has moved from is not there. */
	question.head.records = 100;
	dump.move_code[4] = 99;
	cursor.offset = 40;
	assert_int_equal(cut(&dump, sizeof(dump), &question, &answer), 0);
	assert_int_equal(take(&answer, sizeof(dump), &cursor, 9, &seen), 0);
	assert_string_equal(seen.text, "");
}

static void questions_that_are_none_are_refused(void **state)
{
	struct packed_question question = question_of(10, 0, 1);
	struct reader_request request = {.fd = -1, .bytes = &question};
	struct reader_reply reply;

	request.size = sizeof(question.head) - 1;
	assert_int_equal(code_service_cut(&request, &reply), -EINVAL);
	request.size = sizeof(question.head);
	assert_int_equal(code_service_cut(&request, &reply), -EINVAL);
	question.head.range_count = CODE_MAX_RANGES + 1;
	assert_int_equal(code_service_cut(&request, &reply), -EINVAL);
	question = question_of(10, 0, 1);
	request.size = sizeof(question.head) + sizeof(question.ranges[0]);
	assert_int_equal(code_service_cut(&request, &reply), -EBADF);
}

static void lies_are_not_believed(void **state)
{
	static const struct {
		struct code_answer head;
		struct code_answer_entry entry;
	} lies[] = {
		{{.offset = 9}, {.size = 1}},				    /* back */
		{{.offset = 101}, {.offset = 10, .size = 1}},		    /* beyond the end */
		{{.offset = 10, .has_more = 1}, {.offset = 10, .size = 1}}, /* no progress */
		{{.offset = 20, .has_more = 2}, {.offset = 10, .size = 1}},
		{{.offset = 20, .skipping = 2}, {.offset = 10, .size = 1}},
		{{.offset = 20, .records = 101}, {.offset = 10, .size = 1}},
		{{.offset = 20}, {.offset = 9, .size = 1}},
		{{.offset = 20}, {.offset = 20, .size = 1}},
		{{.offset = 20}, {.offset = 10, .size = 0}},
		{{.offset = 20}, {.offset = 10, .start = UINT64_MAX, .size = 1}},
		{{.offset = 20}, {.offset = 10, .size = 1, .name_size = 1}},
		{{.offset = 20}, {.offset = 10, .size = 1, .name_size = UINT32_MAX}},
	};
	struct answer answer;
	struct seen seen;

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct code_cursor cursor = {.offset = 10};

		answer.size = sizeof(lies[i].head);
		memcpy(answer.bytes, &lies[i].head, sizeof(lies[i].head));
		memcpy(answer.bytes + answer.size, &lies[i].entry, sizeof(lies[i].entry));
		answer.size += sizeof(lies[i].entry);
		assert_int_equal(take(&answer, 100, &cursor, 9, &seen), -EBADMSG);
		assert_int_equal(cursor.offset, 10);
		answer.size = 3;
		assert_int_equal(take(&answer, 100, &cursor, 9, &seen), -EBADMSG);
	}
}

static const reader_serve_fn services[READER_SERVICES] = {[READER_CUTS_CODE] = code_service_cut};

static void a_process_without_rights_cuts_all_of_a_file(void **state)
{
	struct code_reader reader = {.fd = reader_memory_file(lines, sizeof(lines) - 1)};
	struct code_piece piece = {sizeof(lines) - 1, UINT64_MAX, true};
	struct code_places places = {0};
	struct seen seen = {.left = 99};
	struct code_cursor cursor = {0};
	uint32_t records = 100;
	struct code_asker asker = {NULL, 4711, &places, &records};
	const struct code_taker taker = {take_entry, &seen};
	struct error error;

	for (uint64_t i = 0; i < CODE_MAX_RANGES * 3; i++)
		assert_non_null(code_places_add(&places, 0x1000 + i * 6));
	code_places_sort(&places);
	assert_int_equal(code_asker_read(&asker, &reader, &cursor, &piece, &taker), -ENOTCONN);
	assert_int_equal(readers_start(services, &asker.readers, &error), 0);
	assert_int_equal(code_asker_read(&asker, &reader, &cursor, &piece, &taker), 0);
	assert_string_equal(seen.text, "0:1000+100 first;15:2000+100 one::two;38:3000+100 third;");
	readers_stop(asker.readers);
	code_places_done(&places);
	close(reader.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_sampled_addresses_come_with_plain_names),
		cmocka_unit_test(ranges_are_told_apart),
		cmocka_unit_test(what_is_not_taken_comes_again),
		cmocka_unit_test(code_that_moved_is_named_as_long_as_it_may_be_searched),
		cmocka_unit_test(questions_that_are_none_are_refused),
		cmocka_unit_test(lies_are_not_believed),
		cmocka_unit_test(a_process_without_rights_cuts_all_of_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
