// SPDX-License-Identifier: BSD-2-Clause
/* Tables that another process builds are those that this one would build; what it answers is not
 * believed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/elf_program.h"
#include "unwind/table/table_packet.h"
#include "unwind/table/table_reader.h"

static struct elf_file *open_own(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file *image = NULL;

	assert_int_equal(elf_program_open(fd, &image), 0);
	close(fd);
	return image;
}

static bool same_rule(const struct pkbpf_unwind_rule *left, const struct pkbpf_unwind_rule *right)
{
	return memcmp(left, right, sizeof(*left)) == 0;
}

/* Ids may differ, what they stand for must not. */
static void require_same(const struct unwind_table *left, const struct rule_set *left_rules,
			 const struct unwind_table *right, const struct rule_set *right_rules)
{
	const struct pkbpf_unwind_rule *a = rule_set_rules(left_rules),
				       *b = rule_set_rules(right_rules);

	assert_int_equal(left->text_start, right->text_start);
	assert_int_equal(left->page_count, right->page_count);
	assert_int_equal(left->row_count, right->row_count);
	assert_int_equal(left->stats.gaps.postponed, right->stats.gaps.postponed);
	for (uint32_t i = 0; i < left->page_count; i++)
		assert_int_equal(left->pages[i].count, right->pages[i].count);
	for (uint32_t i = 0; i < left->row_count; i++) {
		assert_int_equal(PKBPF_ROW_OFFSET(left->rows[i]), PKBPF_ROW_OFFSET(right->rows[i]));
		assert_true(same_rule(&a[PKBPF_ROW_RULE(left->rows[i])],
				      &b[PKBPF_ROW_RULE(right->rows[i])]));
	}
}

static void test_reader_builds_the_same(void **state)
{
	static const reader_serve_fn services[READER_SERVICES] = {table_reader_serve};
	struct elf_file *image = open_own();
	struct rule_set *here = rule_set_new(), *there = rule_set_new();
	struct unwind_table *built = NULL, *read = NULL;
	struct readers *readers = NULL;
	struct table_job job = {.order = {.image = image, .path = "own"}};
	struct error error;
	bool lacks;
	int err;

	/* Other ids than those of a set that is empty. */
	rule_set_add(there, &(struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_SP, .cfa_offset = 4242});
	if (readers_start(services, &readers, &error) < 0)
		skip();
	assert_int_equal(table_reader_begin(&job, READER_TABLES), -ENOTCONN);
	assert_int_equal(table_reader_build_here(&job.order, here, &built, &lacks), 0);
	job.order.readers = readers;
	assert_int_equal(table_reader_begin(&job, READER_TABLES), 0);
	lacks = true;
	while ((err = table_reader_take(&job, there, &read, &lacks)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(err, 0);
	assert_false(lacks);
	assert_true(built->row_count > 100);
	require_same(built, here, read, there);
	unwind_table_free(built);
	unwind_table_free(read);
	rule_set_free(here);
	rule_set_free(there);
	elf_program_free(image);
	readers_stop(readers);
}

/* ---- what readers do wrong ---- */

static int lie(const struct reader_request *request, struct reader_reply *reply)
{
	static unsigned char rubbish[256];

	memset(rubbish, 0x5a, sizeof(rubbish));
	reply->pieces[0] = (struct iovec){rubbish, sizeof(rubbish)};
	reply->count = 1;
	return 0;
}

static void test_rubbish_is_no_table(void **state)
{
	static const reader_serve_fn services[READER_SERVICES] = {lie};
	struct elf_file *image = open_own();
	struct rule_set *rules = rule_set_new();
	uint32_t count = rule_set_count(rules);
	struct unwind_table *table = NULL;
	struct readers *readers = NULL;
	struct table_job job = {.order = {.image = image, .path = "own"}};
	struct error error;
	bool lacks;
	int err;

	if (readers_start(services, &readers, &error) < 0)
		skip();
	job.order.readers = readers;
	assert_int_equal(table_reader_begin(&job, READER_TABLES), 0);
	while ((err = table_reader_take(&job, rules, &table, &lacks)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(err, -EBADMSG);
	assert_null(table);
	assert_int_equal(rule_set_count(rules), count);
	assert_int_equal(readers_lost_files(readers), 1);
	rule_set_free(rules);
	elf_program_free(image);
	readers_stop(readers);
}

/* An image that has no file, and one whose table nobody wants any more. */
static void test_images_in_memory(void **state)
{
	static const reader_serve_fn services[READER_SERVICES] = {table_reader_serve};
	struct elf_file *own = open_own(), *image = NULL;
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table = NULL;
	struct readers *readers = NULL;
	struct table_job job = {.order = {.path = "memory"}};
	void *bytes = malloc(own->size);
	struct error error;
	bool lacks;
	int err;

	assert_non_null(bytes);
	assert_int_equal(elf_file_read(own, 0, bytes, own->size), 0);
	assert_int_equal(elf_program_open_memory(bytes, own->size, &image), 0);
	if (readers_start(services, &readers, &error) < 0)
		skip();
	job.order.image = image;
	job.order.readers = readers;
	assert_int_equal(table_reader_begin(&job, READER_TABLES), 0);
	table_reader_drop(&job);
	assert_int_equal(table_reader_begin(&job, READER_TABLES), 0);
	while ((err = table_reader_take(&job, rules, &table, &lacks)) == -EAGAIN)
		usleep(1000);
	assert_int_equal(err, 0);
	assert_true(table->row_count > 100);
	assert_int_equal(readers_lost_files(readers), 0);
	unwind_table_free(table);
	rule_set_free(rules);
	elf_program_free(image);
	elf_program_free(own);
	free(bytes);
	readers_stop(readers);
}

static void test_questions_are_checked(void **state)
{
	const uint32_t postpone = 0;
	int script = reader_memory_file("#!/bin/sh\n", 10);
	struct reader_request request = {.fd = -1, .bytes = &postpone, .size = sizeof(postpone)};
	struct reader_reply reply = {.count = 0};
	struct elf_file *own = open_own();

	assert_int_equal(table_reader_serve(&request, &reply), -EINVAL);
	request.fd = script;
	assert_int_equal(table_reader_serve(&request, &reply), -ENOEXEC);
	request.fd = own->fd;
	request.size = 3;
	assert_int_equal(table_reader_serve(&request, &reply), -EINVAL);
	request.size = sizeof(postpone);
	assert_int_equal(table_reader_serve(&request, &reply), 0);
	assert_int_equal(reply.count, TABLE_PACKET_PIECES);
	reply.release(reply.context);
	elf_program_free(own);
	close(script);
}

/* ---- bytes ---- */

struct bytes {
	unsigned char *data;
	size_t size;
	struct table_packet_head *head;
	uint16_t *counts;
};

static struct bytes pack_own(void)
{
	struct elf_file *image = open_own();
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table = NULL;
	struct table_packet packet;
	struct bytes bytes = {0};

	assert_int_equal(unwind_table_build(image, false, rules, &table, NULL), 0);
	assert_int_equal(table_packet_make(&packet, table, rules), 0);
	for (size_t i = 0; i < TABLE_PACKET_PIECES; i++)
		bytes.size += packet.pieces[i].iov_len;
	bytes.data = malloc(bytes.size);
	assert_non_null(bytes.data);
	for (size_t i = 0, at = 0; i < TABLE_PACKET_PIECES; i++) {
		if (packet.pieces[i].iov_len)
			memcpy(bytes.data + at, packet.pieces[i].iov_base,
			       packet.pieces[i].iov_len);
		at += packet.pieces[i].iov_len;
	}
	bytes.head = (void *)bytes.data;
	bytes.counts = (void *)(bytes.data + packet.pieces[0].iov_len);
	table_packet_done(&packet);
	unwind_table_free(table);
	rule_set_free(rules);
	elf_program_free(image);
	return bytes;
}

static int read_bytes(const struct bytes *bytes, size_t size)
{
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table = NULL;
	int err = table_packet_read(bytes->data, size, rules, &table);

	unwind_table_free(table);
	rule_set_free(rules);
	return err;
}

static uint64_t rows_at(const struct bytes *bytes)
{
	return sizeof(*bytes->head) + bytes->head->page_count * sizeof(uint16_t);
}

static uint32_t row_at(const struct bytes *bytes, uint32_t index)
{
	uint32_t row;

	memcpy(&row, bytes->data + rows_at(bytes) + index * sizeof(row), sizeof(row));
	return row;
}

static void set_row(struct bytes *bytes, uint32_t index, uint32_t row)
{
	memcpy(bytes->data + rows_at(bytes) + index * sizeof(row), &row, sizeof(row));
}

#define REQUIRE_REFUSED(bytes) assert_int_equal(read_bytes((bytes), (bytes)->size), -EBADMSG)

static void test_head_is_checked(void **state)
{
	struct bytes bytes = pack_own();
	const struct table_packet_head head = *bytes.head;

	assert_int_equal(read_bytes(&bytes, bytes.size), 0);
	assert_int_equal(read_bytes(&bytes, bytes.size - 1), -EBADMSG);
	assert_int_equal(read_bytes(&bytes, sizeof(head) - 1), -EBADMSG);
	bytes.head->page_count++;
	REQUIRE_REFUSED(&bytes);
	bytes.head->page_count = UINT32_MAX;
	REQUIRE_REFUSED(&bytes);
	*bytes.head = head;
	bytes.head->row_count = UINT32_MAX;
	REQUIRE_REFUSED(&bytes);
	*bytes.head = head;
	bytes.head->rule_count = PKBPF_UNWIND_MAX_RULES;
	REQUIRE_REFUSED(&bytes);
	*bytes.head = head;
	bytes.head->text_start |= 1;
	REQUIRE_REFUSED(&bytes);
	free(bytes.data);
}

static void test_rows_are_checked(void **state)
{
	struct bytes bytes = pack_own();
	uint32_t first = row_at(&bytes, 0), page = 0;

	while (bytes.counts[page] < 2)
		page++;
	/* A page without its first row. */
	set_row(&bytes, 0, PKBPF_ROW(1, PKBPF_ROW_RULE(first)));
	REQUIRE_REFUSED(&bytes);
	/* A rule that there is not. */
	set_row(&bytes, 0, PKBPF_ROW(0, RULE_ID_FIXED_COUNT + bytes.head->rule_count));
	REQUIRE_REFUSED(&bytes);
	set_row(&bytes, 0, first);
	assert_int_equal(read_bytes(&bytes, bytes.size), 0);
	/* More rows than a page has bytes; rows of the next page. */
	bytes.counts[page] = UINT16_MAX;
	REQUIRE_REFUSED(&bytes);
	bytes.counts[page] = 1;
	REQUIRE_REFUSED(&bytes);
	free(bytes.data);
}

static void test_rows_ascend(void **state)
{
	struct bytes bytes = pack_own();
	uint32_t first = 0;

	for (uint32_t page = 0; page < bytes.head->page_count; page++) {
		if (bytes.counts[page] >= 2)
			break;
		first += bytes.counts[page];
	}
	set_row(&bytes, first + 1, PKBPF_ROW(0, RULE_ID_NONE));
	REQUIRE_REFUSED(&bytes);
	free(bytes.data);
}

/* A page without rows, whose rows are still in the table. */
static void test_rows_of_removed_pages_are_left_out(void **state)
{
	struct elf_file *image = open_own();
	struct rule_set *rules = rule_set_new(), *others = rule_set_new();
	struct unwind_table *table = NULL, *read = NULL;
	struct table_packet packet;
	unsigned char *bytes = NULL;
	size_t size = 0;
	uint32_t removed, page = 0;

	assert_int_equal(unwind_table_build(image, false, rules, &table, NULL), 0);
	while (!table->pages[page].count)
		page++;
	removed = table->pages[page].count;
	assert_true(removed < table->row_count);
	table->pages[page].count = 0;
	assert_int_equal(table_packet_make(&packet, table, rules), 0);
	for (size_t i = 0; i < TABLE_PACKET_PIECES; i++) {
		bytes = realloc(bytes, size + packet.pieces[i].iov_len + 1);
		memcpy(bytes + size, packet.pieces[i].iov_base, packet.pieces[i].iov_len);
		size += packet.pieces[i].iov_len;
	}
	assert_int_equal(table_packet_read(bytes, size, others, &read), 0);
	assert_int_equal(read->row_count, table->row_count - removed);
	for (uint32_t i = 0; i < table->page_count; i++) {
		const struct pkbpf_unwind_page *a = &table->pages[i], *b = &read->pages[i];

		assert_int_equal(a->count, b->count);
		for (uint32_t row = 0; row < a->count; row++)
			assert_int_equal(PKBPF_ROW_OFFSET(table->rows[a->first + row]),
					 PKBPF_ROW_OFFSET(read->rows[b->first + row]));
	}
	/* Rows that the table does not have. */
	table_packet_done(&packet);
	table->pages[page].first = table->row_count;
	table->pages[page].count = 1;
	assert_int_equal(table_packet_make(&packet, table, rules), -EBADMSG);
	free(bytes);
	unwind_table_free(read);
	unwind_table_free(table);
	rule_set_free(rules);
	rule_set_free(others);
	elf_program_free(image);
}

static void test_rules_are_checked(void **state)
{
	struct bytes bytes = pack_own();
	unsigned char *rules =
		bytes.data + rows_at(&bytes) + bytes.head->row_count * sizeof(uint32_t);
	struct pkbpf_unwind_rule good, bad;

	assert_true(bytes.head->rule_count > 0);
	memcpy(&good, rules, sizeof(good));
	bad = good;
	bad.cfa = 200;
	memcpy(rules, &bad, sizeof(bad));
	REQUIRE_REFUSED(&bytes);
	bad = good;
	bad.fp = 9;
	memcpy(rules, &bad, sizeof(bad));
	REQUIRE_REFUSED(&bytes);
	bad = good;
	bad.reserved2[2] = 1;
	memcpy(rules, &bad, sizeof(bad));
	REQUIRE_REFUSED(&bytes);
	free(bytes.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reader_builds_the_same),
		cmocka_unit_test(test_rubbish_is_no_table),
		cmocka_unit_test(test_images_in_memory),
		cmocka_unit_test(test_questions_are_checked),
		cmocka_unit_test(test_head_is_checked),
		cmocka_unit_test(test_rows_are_checked),
		cmocka_unit_test(test_rows_ascend),
		cmocka_unit_test(test_rows_of_removed_pages_are_left_out),
		cmocka_unit_test(test_rules_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
