// SPDX-License-Identifier: BSD-2-Clause
/* Tests for ruby/ruby_code: names and lines of records, also of hostile programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "ruby/ruby_code.h"

static struct pkbpf_ruby_string string_of(const char *text)
{
	struct pkbpf_ruby_string string = {.is_read = 1, .length = (uint32_t)strlen(text)};

	string.bytes = (uint16_t)string.length;
	memcpy(string.text, text, string.bytes);
	return string;
}

static void names_are_those_of_backtraces(void **state)
{
	static const struct {
		enum pkbpf_ruby_kind kind;
		bool is_singleton;
		const char *owner, *label, *name;
	} cases[] = {
		{PKBPF_RUBY_IN_METHOD, false, "Shop::Cart", "add", "Shop::Cart#add"},
		{PKBPF_RUBY_IN_METHOD, true, "Shop", "open", "Shop.open"},
		{PKBPF_RUBY_IN_METHOD, false, "Shop::Cart", "block in add",
		 "block in Shop::Cart#add"},
		{PKBPF_RUBY_IN_METHOD, false, "A", "rescue in block (2 levels) in add",
		 "rescue in block (2 levels) in A#add"},
		{PKBPF_RUBY_IN_METHOD, false, "A", "<=>", "A#<=>"},
		{PKBPF_RUBY_IN_METHOD, false, "", "add", "add"},
		{PKBPF_RUBY_PLAIN, false, "A", "<main>", "<main>"},
		{PKBPF_RUBY_PLAIN, false, "", "block in <class:A>", "block in <class:A>"},
		{PKBPF_RUBY_BY_BLOCK, false, "A", "made", "A#made"},
		{PKBPF_RUBY_BY_BLOCK, false, "A", "puts it in cart", "A#puts it in cart"},
		{PKBPF_RUBY_BY_C, false, "Array", "each", "Array#each"},
		{PKBPF_RUBY_BY_C, false, "A", "made in C", "A#made in C"},
		{PKBPF_RUBY_BY_C, true, "Math", "sqrt", "Math.sqrt"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pkbpf_event_ruby_code record = {
			.kind = cases[i].kind,
			.is_singleton = cases[i].is_singleton,
			.first_line = 7,
			.owner = string_of(cases[i].owner),
			.label = string_of(cases[i].label),
			.path = string_of("/app/cart.rb"),
		};
		struct python_code code;

		assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), 0);
		assert_string_equal(code.name, cases[i].name);
		assert_string_equal(code.file,
				    cases[i].kind == PKBPF_RUBY_BY_C ? "<cfunc>" : "/app/cart.rb");
		assert_int_equal(code.first_line, 7);
		assert_true(python_code_is_ruby(&code));
		/* without a table */
		assert_int_equal(python_code_line(&code, 3), 0);
		python_code_done(&code);
	}
}

static void unread_and_cut_strings_show(void **state)
{
	struct pkbpf_event_ruby_code record = {.kind = PKBPF_RUBY_IN_METHOD};
	struct python_code code;

	(void)state;
	record.owner = string_of("A");
	record.owner.is_read = 0;
	assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), 0);
	assert_string_equal(code.name, "?");
	assert_string_equal(code.file, "?");
	python_code_done(&code);
	record.label = string_of("add");
	record.label.length = 300;
	record.path = string_of("cart.rb");
	record.path.length = 300;
	record.path.bytes = UINT16_MAX; /* hostile */
	memset(record.path.text, 'x', sizeof(record.path.text));
	record.path.length = UINT32_MAX;
	assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), 0);
	assert_string_equal(code.name, "add…");
	assert_int_equal(strlen(code.file), strlen("…") + sizeof(record.path.text));
	python_code_done(&code);
}

static void files_of_rubygems_are_files(void **state)
{
	static const char *const paths[][2] = {
		{"<internal:/usr/lib/ruby/kernel_require.rb>", "/usr/lib/ruby/kernel_require.rb"},
		{"<internal:kernel>", "<internal:kernel>"},
		{"<internal:/>", "<internal:/>"},
		{"<internal:/cut.rb", "<internal:/cut.rb"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct pkbpf_event_ruby_code record = {.path = string_of(paths[i][0])};
		struct python_code code;

		assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), 0);
		assert_string_equal(code.file, paths[i][1]);
		python_code_done(&code);
	}
}

/* The index as the interpreter makes it (iseq.c): starts of entries in order. */
static void make_index(uint8_t *index, uint32_t positions, const uint32_t *starts, size_t count)
{
	uint64_t words[PKBPF_RUBY_NEAR_WORDS] = {0};
	uint32_t rank = 0, in_block = 0;

	for (uint32_t i = 0; i < PKBPF_RUBY_NEAR_POSITIONS; i++) {
		if (rank < count && starts[rank] == i)
			rank++;
		words[i / 9] |= (uint64_t)rank << i % 9 * 7;
	}
	memcpy(index, words, sizeof(words));
	for (uint32_t i = PKBPF_RUBY_NEAR_POSITIONS; i < positions; i++) {
		uint32_t bit = (i - PKBPF_RUBY_NEAR_POSITIONS) % PKBPF_RUBY_BLOCK_POSITIONS;
		uint32_t part = bit / 64;
		uint8_t *block = index + PKBPF_RUBY_INDEX_BYTES((i - PKBPF_RUBY_NEAR_POSITIONS) /
								PKBPF_RUBY_BLOCK_POSITIONS);
		uint64_t word;

		if (!bit) {
			memset(block, 0, PKBPF_RUBY_BLOCK_BYTES);
			memcpy(block, &rank, sizeof(rank));
			in_block = 0;
		} else if (bit % 64 == 0) {
			memcpy(&word, block + 8, 8);
			word |= (uint64_t)in_block << (part - 1) * 9;
			memcpy(block + 8, &word, 8);
		}
		if (rank >= count || starts[rank] != i)
			continue;
		rank++;
		in_block++;
		memcpy(&word, block + 16 + 8UL * part, 8);
		word |= 1ULL << bit % 64;
		memcpy(block + 16 + 8UL * part, &word, 8);
	}
}

#define ENTRIES 400
#define INDEX	PKBPF_RUBY_INDEX_BYTES(4)

union lined_record {
	struct pkbpf_event_ruby_code record;
	uint8_t all[sizeof(struct pkbpf_event_ruby_code) + INDEX +
		    ENTRIES * PKBPF_RUBY_ENTRY_BYTES];
};

static union lined_record *make_lines(uint32_t positions, uint32_t *starts, size_t count)
{
	union lined_record *lined = calloc(1, sizeof(*lined));

	assert_non_null(lined);
	lined->record.kind = PKBPF_RUBY_PLAIN;
	lined->record.positions = positions;
	lined->record.index_bytes = INDEX;
	lined->record.line_bytes = (uint32_t)count * PKBPF_RUBY_ENTRY_BYTES;
	lined->record.first_line = 1;
	make_index(lined->record.lines, positions, starts, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t line = 10 + 3 * i;

		memcpy(lined->record.lines + INDEX + i * PKBPF_RUBY_ENTRY_BYTES, &line,
		       sizeof(line));
	}
	return lined;
}

static void instructions_have_the_line_of_what_they_run(void **state)
{
	uint32_t starts[ENTRIES], at = 0, entry;
	union lined_record *lined;
	struct python_code code;

	(void)state;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		starts[i] = at;
		at += 1 + i % 7;
	}
	lined = make_lines(at, starts, ENTRIES);
	assert_true(at > PKBPF_RUBY_NEAR_POSITIONS + 2 * PKBPF_RUBY_BLOCK_POSITIONS);
	assert_int_equal(ruby_code_decode(&lined->record, sizeof(*lined), &code), 0);
	/* A frame points behind the instruction that it runs, but at its first one. */
	assert_int_equal(python_code_line(&code, 0), 10);
	for (uint32_t instruction = 1; instruction <= at; instruction++) {
		for (entry = 0; entry + 1 < ENTRIES && starts[entry + 1] <= instruction - 1;)
			entry++;
		assert_int_equal(python_code_line(&code, instruction), 10 + 3 * entry);
	}
	assert_int_equal(python_code_line(&code, PKBPF_PYTHON_NO_INSTRUCTION), 0);
	python_code_done(&code);
	free(lined);
}

static void damaged_tables_end_early(void **state)
{
	uint32_t starts[] = {0, 20, 100};
	union lined_record *lined = make_lines(200, starts, ARRAY_SIZE(starts));
	struct python_code code;

	(void)state;
	/* More entries than there are. */
	lined->record.line_bytes = 2 * PKBPF_RUBY_ENTRY_BYTES;
	assert_int_equal(ruby_code_decode(&lined->record, sizeof(*lined), &code), 0);
	assert_int_equal(python_code_line(&code, 150), 13);
	python_code_done(&code);
	/* A part of the index. */
	lined->record.line_bytes = 3 * PKBPF_RUBY_ENTRY_BYTES;
	lined->record.index_bytes = PKBPF_RUBY_INDEX_BYTES(0);
	assert_int_equal(ruby_code_decode(&lined->record, sizeof(*lined), &code), 0);
	python_code_done(&code);
	lined->record.positions = UINT32_MAX;
	lined->record.index_bytes = 8;
	assert_int_equal(ruby_code_decode(&lined->record, sizeof(*lined), &code), 0);
	python_code_done(&code);
	free(lined);
}

static void rejects_records_that_say_more_than_they_have(void **state)
{
	struct pkbpf_event_ruby_code record = {.index_bytes = 48};
	struct python_code code;

	(void)state;
	assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), -EBADMSG);
	assert_int_equal(ruby_code_decode(&record, 8, &code), -EBADMSG);
	record.index_bytes = PKBPF_RUBY_LONG_INDEX + 8;
	assert_int_equal(ruby_code_decode(&record, 1 << 20, &code), -EBADMSG);
	record.index_bytes = 0;
	record.line_bytes = PKBPF_RUBY_LONG_LINES + 12;
	assert_int_equal(ruby_code_decode(&record, 1 << 20, &code), -EBADMSG);
	record.line_bytes = 0;
	record.kind = PKBPF_RUBY_BY_C + 1;
	assert_int_equal(ruby_code_decode(&record, sizeof(record), &code), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_backtraces),
		cmocka_unit_test(unread_and_cut_strings_show),
		cmocka_unit_test(files_of_rubygems_are_files),
		cmocka_unit_test(instructions_have_the_line_of_what_they_run),
		cmocka_unit_test(damaged_tables_end_early),
		cmocka_unit_test(rejects_records_that_say_more_than_they_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
