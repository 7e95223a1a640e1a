// SPDX-License-Identifier: BSD-2-Clause
/* Tests lines and inlined functions out of DWARF, plain, packed, absent and damaged. */
#include "symbol/dwarf/dwarf_lines.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/array.h"
#include "symbol/dwarf/inlined_copies.h"
#include "symbol_fixture.h"

static struct string_pool *strings;
static struct dwarf_budget budget;
static const struct debug_file_search search = {
	.root = "", .debug_dir = "/nonexistent", .path = "/nonexistent"};

static int start(void **state)
{
	strings = string_pool_new();
	budget = DWARF_BUDGET_FULL;
	return strings ? 0 : -1;
}

static int stop(void **state)
{
	string_pool_free(strings);
	return 0;
}

static struct dwarf_lines *open_lines(const char *path)
{
	struct debug_file_search here = search;
	int fd = open(path, O_RDONLY);
	struct dwarf_lines *lines;

	assert_true(fd >= 0);
	here.path = path;
	lines = dwarf_lines_open(fd, &here, true, &budget);
	close(fd);
	return lines;
}

static void assert_chain(const char *path)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {
		.address = find_place(path, "leaf_marker").address,
		.inlines = true,
		.lines = true,
	};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
	assert_string_equal(found[0].function, "inlined_leaf");
	assert_int_equal(found[0].line, 100);
	assert_string_equal(found[1].function, "inlined_middle");
	assert_int_equal(found[1].line, 200);
	assert_string_equal(found[2].function, "outer_function");
	assert_int_equal(found[2].line, 300);
	assert_true(found[0].inlined && found[1].inlined && !found[2].inlined);
	/* Its memory may be another file's later. */
	assert_true(budget.bytes < DWARF_BUDGET_BYTES);
	assert_true(budget.line_bytes < DWARF_BUDGET_LINE_BYTES);
	dwarf_lines_free(lines);
	assert_true(budget.bytes == DWARF_BUDGET_BYTES);
	assert_true(budget.line_bytes == DWARF_BUDGET_LINE_BYTES);
}

static void finds_inlined_functions_and_lines(void **state)
{
	assert_chain(FIXTURE_DIR "/pie");
	assert_chain(FIXTURE_DIR "/no_pie");
#ifdef HAS_CLASS32
	assert_chain(FIXTURE_DIR "/class32");
#endif
}

static void reads_packed_sections(void **state)
{
	assert_chain(FIXTURE_DIR "/packed");
	assert_chain(FIXTURE_DIR "/packed_by_gnu");
#ifdef HAS_ZSTD
	assert_chain(FIXTURE_DIR "/packed_zstd");
#endif
}

static void reads_split_units(void **state)
{
	assert_chain(FIXTURE_DIR "/split/dwarf4");
	assert_chain(FIXTURE_DIR "/split/dwarf5");
}

#ifdef HAS_DWP
static void reads_packages_of_split_units(void **state)
{
	assert_chain(FIXTURE_DIR "/package/dwarf4");
}

/* FIXTURE_DIR is the folder of debug files, in which the program's path goes on. */
static void reads_packages_in_the_folder_of_debug_files(void **state)
{
	static const char path[] = FIXTURE_DIR "/package/dwarf4";
	struct debug_file_search moved = {
		.root = "", .debug_dir = FIXTURE_DIR, .path = "/package/dwarf4"};
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_query query = {.address = find_place(path, "leaf_marker").address,
				    .inlines = true};
	int fd = open(path, O_RDONLY);
	struct dwarf_lines *lines = dwarf_lines_open(fd, &moved, true, &budget);

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
	assert_string_equal(found[0].function, "inlined_leaf");
	dwarf_lines_free(lines);
	close(fd);
}
#endif

/* Without room for both, nobody says where the functions were inlined. */
static void line_programs_of_split_units_are_of_the_budget(void **state)
{
	static const char path[] = FIXTURE_DIR "/split/dwarf5";
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {
		.address = find_place(path, "leaf_marker").address,
		.inlines = true,
		.lines = true,
	};
	int fd = open(path, O_RDONLY);
	struct elf_file file;

	assert_int_equal(elf_file_open(&file, fd), 0);
	budget.line_bytes = elf_file_find_section(&file, ".debug_line")->size;
	elf_file_done(&file);
	close(fd);
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
	assert_string_equal(found[0].function, "inlined_leaf");
	assert_int_equal(found[0].line, 0);
	dwarf_lines_free(lines);
}

static void assert_missing(const char *path, const char *reason)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {
		.address = find_place(path, "leaf_marker").address,
		.inlines = true,
		.function = "of the symbol table",
	};
	const char *missing;

	assert_null(dwarf_lines_missing(lines));
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 1);
	missing = dwarf_lines_missing(lines);
	assert_non_null(missing);
	assert_non_null(strstr(missing, reason));
	dwarf_lines_free(lines);
}

static void says_which_split_file_is_missing(void **state)
{
	static const char fifo[] = FIXTURE_DIR "/split/missing.dwo";

	unlink(fifo);
	assert_missing(FIXTURE_DIR "/split/missing", "1 split file, such as ");
	assert_missing(FIXTURE_DIR "/split/missing", "missing.dwo: no such file");
	assert_missing(FIXTURE_DIR "/split/other", "other.dwo: it belongs to another build");
	/* Nobody writes to it: opening it would wait for ever. */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_missing(FIXTURE_DIR "/split/missing", "missing.dwo: not a regular file");
	unlink(fifo);
}

#ifndef __clang__
static void finds_functions_inlined_into_one_that_is_inside_another(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(FIXTURE_DIR "/pie");
	struct dwarf_query query = {.address =
					    find_place(FIXTURE_DIR "/pie", "nested_marker").address,
				    .inlines = true};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 2);
	assert_string_equal(found[0].function, "nested_leaf");
	assert_string_equal(found[1].function, "nested_function");
	dwarf_lines_free(lines);
}
#endif

static void gives_only_what_is_asked_for(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(FIXTURE_DIR "/pie");
	struct dwarf_query query = {
		.address = find_place(FIXTURE_DIR "/pie", "leaf_marker").address,
		.function = "name of the symbol table",
	};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 1);
	assert_string_equal(found[0].function, "name of the symbol table");
	assert_null(found[0].file);
	query.lines = true;
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 1);
	assert_int_equal(found[0].line, 100);
	dwarf_lines_free(lines);
}

static void finds_inlined_functions_without_reading_lines(void **state)
{
	static const char *const paths[] = {FIXTURE_DIR "/pie", FIXTURE_DIR "/packed"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct symbol_line found[DWARF_LINES_MAX_DEPTH];
		int fd = open(paths[i], O_RDONLY);
		struct dwarf_lines *lines = dwarf_lines_open(fd, &search, false, &budget);
		struct dwarf_query query = {
			.address = find_place(paths[i], "leaf_marker").address,
			.inlines = true,
		};

		assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
		assert_string_equal(found[0].function, "inlined_leaf");
		assert_string_equal(found[2].function, "outer_function");
		query.lines = true;
		assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
		assert_null(found[0].file);
		dwarf_lines_free(lines);
		close(fd);
	}
}

static void address_without_dwarf_gives_nothing(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(FIXTURE_DIR "/pie");
	struct dwarf_query query = {.inlines = true, .lines = true};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 0);
	query.address = find_place(FIXTURE_DIR "/pie", "raw_label").address;
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 0);
	query.address = UINT64_MAX;
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 0);
	dwarf_lines_free(lines);
	lines = open_lines(FIXTURE_DIR "/stripped");
	query.address = 0x1200;
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 0);
	dwarf_lines_free(lines);
}

/* Sizes that a section claims to have once unpacked are believed by libdw. */
static void packed_section_that_would_fill_the_memory_is_refused(void **state)
{
	char path[] = "/tmp/pkbpf-dwarf-XXXXXX";
	int in = open(FIXTURE_DIR "/packed", O_RDONLY), out = mkstemp(path);
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_query query = {
		.address = find_place(FIXTURE_DIR "/packed", "leaf_marker").address,
		.inlines = true,
	};
	struct dwarf_lines *lines;
	uint8_t *bytes;
	Elf64_Ehdr header;
	size_t changed = 0;
	struct stat st;

	assert_int_equal(fstat(in, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(in, bytes, (size_t)st.st_size), st.st_size);
	memcpy(&header, bytes, sizeof(header));
	for (unsigned int i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;
		Elf64_Chdr packed;

		memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
		if (!(section.sh_flags & SHF_COMPRESSED))
			continue;
		memcpy(&packed, bytes + section.sh_offset, sizeof(packed));
		packed.ch_size = 1ULL << 40;
		memcpy(bytes + section.sh_offset, &packed, sizeof(packed));
		changed++;
	}
	assert_true(changed > 0);
	assert_int_equal(write(out, bytes, (size_t)st.st_size), st.st_size);
	lines = dwarf_lines_open(out, &search, true, &budget);
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 0);
	assert_string_equal(dwarf_lines_missing(lines), "too large");
	dwarf_lines_free(lines);
	close(in);
	close(out);
	unlink(path);
	free(bytes);
}

/* libdw would read on behind the section. */
static void string_section_without_a_last_nul_is_not_read_beyond(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_query query = {
		.address = find_place(FIXTURE_DIR "/pie", "leaf_marker").address,
		.inlines = true,
		.lines = true,
	};
	char path[] = "/tmp/pkbpf-dwarf-XXXXXX";
	int in = open(FIXTURE_DIR "/pie", O_RDONLY), out = mkstemp(path);
	const struct elf_section *section;
	struct dwarf_lines *lines;
	struct elf_file file;
	struct stat st;
	char *bytes;

	assert_int_equal(fstat(in, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(in, bytes, (size_t)st.st_size), st.st_size);
	assert_int_equal(elf_file_open(&file, in), 0);
	section = elf_file_find_section(&file, ".debug_str");
	assert_non_null(section);
	bytes[section->offset + section->size - 1] = 'x';
	elf_file_done(&file);
	assert_int_equal(write(out, bytes, (size_t)st.st_size), st.st_size);
	lines = dwarf_lines_open(out, &search, true, &budget);
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
	assert_string_equal(found[0].function, "inlined_leaf");
	dwarf_lines_free(lines);
	close(in);
	close(out);
	unlink(path);
	free(bytes);
}

static void of_scopes_that_overlap_the_one_with_more_in_it_counts(void **state)
{
	static const char path[] = FIXTURE_DIR "/overlapping_scopes";
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {.address = find_place(path, "mixed").address, .inlines = true};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 3);
	assert_string_equal(found[0].function, "inner");
	assert_string_equal(found[1].function, "second");
	assert_string_equal(found[2].function, "outer");
	query.address = find_place(path, "outer").address;
	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 2);
	assert_string_equal(found[0].function, "first");
	dwarf_lines_free(lines);
}

static void functions_are_found_behind_many_shorter_ones(void **state)
{
	static const char path[] = FIXTURE_DIR "/shorter_functions";
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {.address = find_place(path, "behind").address, .inlines = true};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 2);
	assert_string_equal(found[0].function, "inner");
	assert_string_equal(found[1].function, "outer");
	dwarf_lines_free(lines);
}

/* Before DWARF 5, number 0 stands for none. */
static void calls_without_a_file_have_no_place(void **state)
{
	static const char path[] = FIXTURE_DIR "/shorter_functions";
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {
		.address = find_place(path, "behind").address, .inlines = true, .lines = true};

	assert_int_equal(dwarf_lines_find(lines, &query, strings, found), 2);
	assert_int_equal(found[0].line, 7);
	assert_null(found[1].file);
	assert_int_equal(found[1].line, 0);
	dwarf_lines_free(lines);
}

/* Without an end to it, this test would not come to its own. */
static void reading_that_takes_too_long_is_given_up(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *costly, *other;
	struct dwarf_query query = {
		.address = find_place(FIXTURE_DIR "/shared_ranges", "costly").address,
		.inlines = true,
		.function = "costly",
	};

	budget.cpu_ns = NS_PER_SECOND;
	costly = open_lines(FIXTURE_DIR "/shared_ranges");
	assert_null(dwarf_lines_missing(costly));
	dwarf_lines_find(costly, &query, strings, found);
	assert_string_equal(dwarf_lines_missing(costly), "it takes too long to read");
	assert_int_equal(dwarf_lines_find(costly, &query, strings, found), 0);
	dwarf_lines_free(costly);
	assert_true(budget.cpu_ns < NS_PER_SECOND - NS_PER_SECOND / DWARF_BUDGET_FILE_SHARE);
	/* It has not taken what others need. */
	assert_true(budget.cpu_ns > NS_PER_SECOND / 10);
	assert_chain(FIXTURE_DIR "/pie");
	/* Where nothing is left, nothing is read. */
	budget.cpu_ns = 0;
	budget.returned_ns = 0;
	query.address = find_place(FIXTURE_DIR "/pie", "leaf_marker").address;
	other = open_lines(FIXTURE_DIR "/pie");
	dwarf_lines_find(other, &query, strings, found);
	assert_string_equal(dwarf_lines_missing(other), "it takes too long to read");
	dwarf_lines_free(other);
}

static void time_comes_back_as_it_passes(void **state)
{
	budget = (struct dwarf_budget){0};
	dwarf_budget_return(&budget, NS_PER_SECOND);
	assert_true(budget.cpu_ns == 0);
	dwarf_budget_return(&budget, NS_PER_SECOND + DWARF_BUDGET_RETURN_SHARE * NS_PER_MS);
	assert_true(budget.cpu_ns == NS_PER_MS);
	dwarf_budget_return(&budget,
			    NS_PER_SECOND + DWARF_BUDGET_RETURN_SHARE * DWARF_BUDGET_CPU_NS);
	assert_true(budget.cpu_ns == DWARF_BUDGET_CPU_NS);
	dwarf_budget_return(&budget, UINT64_MAX);
	assert_true(budget.cpu_ns == DWARF_BUDGET_CPU_NS);
}

static size_t find_costly(const char *path)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_lines *lines = open_lines(path);
	struct dwarf_query query = {.address = find_place(path, "costly").address,
				    .function = "costly"};
	size_t count = dwarf_lines_find(lines, &query, strings, found);

	dwarf_lines_free(lines);
	return count;
}

/* libdw keeps a table once for each unit that has it: 20 KB would become 640 MB. */
static void abbreviations_that_would_fill_the_memory_are_refused(void **state)
{
	assert_int_equal(find_costly(FIXTURE_DIR "/few_units"), 1);
	assert_int_equal(find_costly(FIXTURE_DIR "/many_units"), 0);
	assert_int_equal(find_costly(FIXTURE_DIR "/overlapping_tables"), 0);
}

static void memory_of_all_files_is_bounded(void **state)
{
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_query query = {
		.address = find_place(FIXTURE_DIR "/pie", "leaf_marker").address,
		.inlines = true,
		.lines = true,
	};
	struct dwarf_lines *first, *second;

	budget.line_bytes = 10;
	first = open_lines(FIXTURE_DIR "/pie");
	second = open_lines(FIXTURE_DIR "/pie");
	assert_int_equal(dwarf_lines_find(first, &query, strings, found), 3);
	assert_null(found[0].file);
	budget.bytes = 10;
	assert_int_equal(dwarf_lines_find(second, &query, strings, found), 0);
	assert_string_equal(dwarf_lines_missing(second), "too large");
	dwarf_lines_free(first);
	dwarf_lines_free(second);
}

static bool is_inlined_one(void *context, const char *name, char *ret_name)
{
	(void)context;
	snprintf(ret_name, INLINED_NAME_BYTES, "%s", name);
	return !strncmp(name, "inlined_", 8);
}

static void counts_copies_of_inlined_functions_and_names_their_callers(void **state)
{
	struct inlined_functions functions = {0};
	struct elf_file file;
	int fd = open(FIXTURE_DIR "/packed", O_RDONLY);

	assert_int_equal(elf_file_open(&file, fd), 0);
	assert_int_equal(inlined_copies_find(&file, &budget, is_inlined_one, NULL, &functions), 0);
	assert_int_equal(functions.items.count, 2);
	array_foreach(&functions.items, function) {
		assert_int_equal(function->copies, 1);
		assert_string_not_equal(function->callers[0], "");
		assert_string_equal(function->callers[1], "");
		assert_false(function->has_more_callers);
	}
	array_free(&functions.items);
	/* Nothing is left, and nothing has come back since the files before. */
	budget.cpu_ns = 0;
	budget.returned_ns = 0;
	assert_int_equal(inlined_copies_find(&file, &budget, is_inlined_one, NULL, &functions),
			 -ETIME);
	elf_file_done(&file);
	close(fd);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		test(finds_inlined_functions_and_lines),
		test(reads_packed_sections),
		test(counts_copies_of_inlined_functions_and_names_their_callers),
		test(reads_split_units),
#ifdef HAS_DWP
		test(reads_packages_of_split_units),
		test(reads_packages_in_the_folder_of_debug_files),
#endif
		test(line_programs_of_split_units_are_of_the_budget),
		test(says_which_split_file_is_missing),
		test(gives_only_what_is_asked_for),
		test(finds_inlined_functions_without_reading_lines),
#ifndef __clang__
		test(finds_functions_inlined_into_one_that_is_inside_another),
#endif
		test(functions_are_found_behind_many_shorter_ones),
		test(calls_without_a_file_have_no_place),
		test(of_scopes_that_overlap_the_one_with_more_in_it_counts),
		test(reading_that_takes_too_long_is_given_up),
		test(time_comes_back_as_it_passes),
		test(abbreviations_that_would_fill_the_memory_are_refused),
		test(memory_of_all_files_is_bounded),
		test(address_without_dwarf_gives_nothing),
		test(string_section_without_a_last_nul_is_not_read_beyond),
		test(packed_section_that_would_fill_the_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
