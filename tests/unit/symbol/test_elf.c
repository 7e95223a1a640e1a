// SPDX-License-Identifier: BSD-2-Clause
/* Tests naming of places in ELF files of every kind, made at build time. */
#include "symbol/elf/elf.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/clock.h"
#include "reader/readers.h"
#include "symbol/elf/elf_proxy.h"
#include "symbol/elf/names_service.h"
#include "symbol_fixture.h"

static struct mapped_file_table *files;
static struct string_pool *strings;
static struct symbolizer_options options;
static struct symbolizer *symbolizer;
/* Files are read by another process, and the same comes of it. */
static bool is_apart;

static int start(void **state)
{
	static const reader_serve_fn services[READER_SERVICES] = {
		[READER_NAMES_ADDRESSES] = names_service_answer,
		[READER_FORGETS_FILES] = names_service_forget,
	};
	struct elf_files here;
	struct error error;

	options = (struct symbolizer_options){.debug_dir = "/nonexistent"};
	files = mapped_file_table_new("");
	strings = string_pool_new();
	here = elf_files_of(files);
	if (is_apart) {
		assert_int_equal(readers_start(services, &options.readers, &error), 0);
		symbolizer = elf_proxy_new(&options, files, strings);
	} else {
		symbolizer = elf_symbolizer_new(&options, &here, strings);
	}
	return 0;
}

static int stop(void **state)
{
	symbolizer_free(symbolizer);
	if (is_apart)
		assert_int_equal(readers_lost_files(options.readers), 0);
	readers_stop(options.readers);
	string_pool_free(strings);
	mapped_file_table_free(files);
	return 0;
}

static uint32_t add_file_at(const char *path, uint64_t time_ns)
{
	struct mapped_file *file = NULL;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(mapped_file_table_add(files,
					       &(struct mapping_view){
						       .time_ns = time_ns,
						       .pid = (uint32_t)getpid(),
						       .start = 0x1000,
						       .end = 0x2000,
						       .inode = st.st_ino,
						       .device_major = major(st.st_dev),
						       .device_minor = minor(st.st_dev),
						       .protection = PROT_READ | PROT_EXEC,
						       .path = path,
					       },
					       &file),
			 0);
	assert_non_null(file);
	return file->id;
}

static uint32_t add_file(const char *path)
{
	return add_file_at(path, 0);
}

static struct symbol resolve(uint32_t file, uint64_t offset, bool is_return_address)
{
	struct frame_location location = {
		.space = FRAME_FILE,
		.object = file,
		.address = offset,
		.is_return_address = is_return_address,
	};
	struct symbol symbol;

	assert_true(symbolizer->ops->resolve(symbolizer, &location, &symbol));
	return symbol;
}

static void assert_name(uint32_t file, uint64_t offset, const char *name)
{
	struct symbol symbol = resolve(file, offset, false);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_true(symbol.line_count > 0);
	assert_string_equal(symbol.lines[symbol.line_count - 1].function, name);
}

/* In `path`, whose code is that of `original`, everything that `original` names is named. */
static void assert_all_names(const char *path, const char *original)
{
	static const struct {
		const char *symbol, *name;
	} rows[] = {
		{"outer_function", "outer_function"},
		{"local_function", "local_function"},
		{"leaf_marker", "outer_function"},
		{"_ZN2ns5Class6methodEi", "ns::Class::method"},
		{"_ZN7mycrate6module4work17h0123456789abcdefE", "mycrate::module::work"},
		{"__aliased", "aliased"},
		{"raw_label", "raw_label"},
	};
	uint32_t file = add_file(path);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct place place = find_place(original, rows[i].symbol);

		assert_name(file, place.offset, rows[i].name);
		assert_true(resolve(file, place.offset, false).module_address == place.address);
		if (place.size > 0)
			assert_name(file, place.offset + place.size - 1, rows[i].name);
	}
}

static void names_code_of_position_independent_programs(void **state)
{
	assert_all_names(FIXTURE_DIR "/pie", FIXTURE_DIR "/pie");
}

static void names_code_of_programs_at_fixed_addresses(void **state)
{
	assert_all_names(FIXTURE_DIR "/no_pie", FIXTURE_DIR "/no_pie");
}

static void names_code_of_static_programs(void **state)
{
	assert_all_names(FIXTURE_DIR "/static", FIXTURE_DIR "/static");
}

/* There is padding before it, and a stack may say that it returns to its first byte. */
static void names_a_function_that_somebody_returns_to(void **state)
{
	uint32_t file = add_file(FIXTURE_DIR "/pie");
	struct place place = find_place(FIXTURE_DIR "/pie", "deregister_tm_clones");
	struct symbol symbol = resolve(file, place.offset, true);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[0].function, "deregister_tm_clones");
	assert_int_not_equal(resolve(file, place.offset - 1, true).result, SYMBOL_FOUND);
}

/* Another process, which has it mapped as well, may make it readable. */
static void a_file_that_could_not_be_opened_is_tried_again(void **state)
{
	char path[] = "/tmp/pkbpf-test-elf-XXXXXX", away[64];
	struct place place = find_place(FIXTURE_DIR "/pie", "local_function");
	char command[512];
	uint32_t file;

	close(mkstemp(path));
	snprintf(away, sizeof(away), "%s-away", path);
	snprintf(command, sizeof(command), "cp %s %s", FIXTURE_DIR "/pie", path);
	assert_int_equal(system(command), 0);
	file = add_file(path);
	assert_int_equal(rename(path, away), 0);
	assert_int_not_equal(resolve(file, place.offset, false).result, SYMBOL_FOUND);
	assert_int_equal(rename(away, path), 0);
	assert_int_equal(add_file(path), file);
	assert_name(file, place.offset, "local_function");
	unlink(path);
}

/* Its last call does not return: the function that follows has nothing to do with it. */
static void a_function_without_a_name_has_not_that_of_the_next(void **state)
{
	uint32_t file = add_file(FIXTURE_DIR "/pie");
	struct place place = find_place(FIXTURE_DIR "/pie", "follower");
	struct symbol symbol = resolve(file, place.offset, true);

	assert_int_equal(symbol.result, SYMBOL_NOT_IN_TABLE);
	assert_int_equal(symbol.line_count, 0);
	assert_int_equal(symbol.function_address, place.address - 1);
	assert_name(file, place.offset, "follower");
}

#ifdef HAS_CLASS32
static void names_code_of_32_bit_programs(void **state)
{
	assert_all_names(FIXTURE_DIR "/class32", FIXTURE_DIR "/class32");
}
#endif

static void separate_debug_file_is_found_by_build_id(void **state)
{
	options.debug_dir = FIXTURE_DIR "/debug";
	assert_all_names(FIXTURE_DIR "/stripped", FIXTURE_DIR "/pie");
}

static void separate_debug_file_is_found_by_link_and_checksum(void **state)
{
	assert_all_names(FIXTURE_DIR "/link/linked", FIXTURE_DIR "/no_id");
}

static void debug_file_with_another_checksum_is_not_believed(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/no_id", "local_function");
	uint32_t file = add_file(FIXTURE_DIR "/link/outdated");

	assert_int_equal(resolve(file, place.offset, false).result, SYMBOL_STRIPPED);
}

static void packed_mini_debuginfo_names_local_functions(void **state)
{
	uint32_t file = add_file(FIXTURE_DIR "/mini");

	assert_name(file, find_place(FIXTURE_DIR "/no_id", "local_function").offset,
		    "local_function");
	assert_name(file, find_place(FIXTURE_DIR "/no_id", "_ZN2ns5Class6methodEi").offset,
		    "ns::Class::method");
	assert_int_equal(
		resolve(file, find_place(FIXTURE_DIR "/no_id", "outer_function").offset, false)
			.result,
		SYMBOL_NOT_IN_TABLE);
}

static void stripped_file_says_so_and_gives_module_and_address(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "local_function");
	struct symbol symbol = resolve(add_file(FIXTURE_DIR "/stripped"), place.offset, false);

	assert_int_equal(symbol.result, SYMBOL_STRIPPED);
	assert_string_equal(symbol.module, "stripped");
	assert_true(symbol.module_address == place.address);
	assert_int_equal(symbol.line_count, 0);
}

static void return_address_behind_a_function_belongs_to_it(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "outer_function");
	struct symbol symbol =
		resolve(add_file(FIXTURE_DIR "/pie"), place.offset + place.size, true);

	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_string_equal(symbol.lines[symbol.line_count - 1].function, "outer_function");
	assert_true(symbol.module_address == place.address + place.size);
}

static void label_at_the_end_of_a_section_stops_there(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "raw_label");
	uint32_t file = add_file(FIXTURE_DIR "/pie");

	assert_name(file, place.offset + 2, "raw_label");
	assert_int_equal(resolve(file, place.offset + 3, false).result, SYMBOL_NOT_IN_TABLE);
}

/* The name of a place in a copy of a 64-bit program that says it is for another machine. */
static void assert_name_on(uint16_t machine, const char *program, uint64_t offset, const char *name)
{
	char path[] = "/tmp/pkbpf-test-elf-XXXXXX", buffer[65536];
	int from = open(program, O_RDONLY), to = mkstemp(path);
	ssize_t count;

	assert_true(from >= 0 && to >= 0);
	while ((count = read(from, buffer, sizeof(buffer))) > 0)
		assert_true(write(to, buffer, (size_t)count) == count);
	assert_true(pwrite(to, &machine, sizeof(machine), offsetof(Elf64_Ehdr, e_machine)) ==
		    sizeof(machine));
	close(from);
	close(to);
	assert_name(add_file(path), offset, name);
	unlink(path);
}

static void marks_between_code_and_data_name_nothing_on_arm(void **state)
{
	uint64_t offset = find_place(FIXTURE_DIR "/pie", "mixed_label").offset + 4;

	assert_name_on(EM_AARCH64, FIXTURE_DIR "/pie", offset, "mixed_label");
	assert_name_on(EM_X86_64, FIXTURE_DIR "/pie", offset, "$x.7");
}

#ifdef __x86_64__
/* The stubs lie between .plt's start and end; puts is called through one of them. */
static void calls_into_other_files_go_through_named_stubs(void **state)
{
	int fd = open(FIXTURE_DIR "/stripped", O_RDONLY);
	uint32_t file = add_file(FIXTURE_DIR "/stripped");
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		assert_non_null(gelf_getshdr(section, &header));
		if (strncmp(elf_strptr(elf, names, header.sh_name), ".plt", 4) != 0)
			continue;
		for (uint64_t at = 0; at < header.sh_size; at += 8) {
			struct symbol symbol = resolve(file, header.sh_offset + at, false);

			found |= symbol.result == SYMBOL_FOUND &&
				 strcmp(symbol.lines[0].function, "puts@plt") == 0;
		}
	}
	elf_end(elf);
	close(fd);
	assert_true(found);
}
#endif

static void vdso_is_named_from_its_image(void **state)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	FILE *maps = fopen("/proc/self/maps", "r");
	struct mapped_file *file = NULL;
	unsigned long from, to;
	size_t named = 0;
	char line[512];

	assert_non_null(maps);
	if (!image)
		skip();
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &from, &to) == 2)
			assert_int_equal(mapped_file_table_add(files,
							       &(struct mapping_view){
								       .pid = (uint32_t)getpid(),
								       .start = from,
								       .end = to,
								       .protection = PROT_EXEC,
								       .path = "[vdso]",
							       },
							       &file),
					 0);
	fclose(maps);
	assert_non_null(file);
	for (uint64_t offset = 0; offset < to - from; offset += 16) {
		struct symbol symbol = resolve(file->id, offset, false);

		assert_string_equal(symbol.module, "[vdso]");
		named += symbol.result == SYMBOL_FOUND &&
			 strstr(symbol.lines[0].function, "clock_gettime");
	}
	assert_true(named > 0);
}

static void file_that_is_gone_or_no_elf_says_so(void **state)
{
	char path[] = "/tmp/pkbpf-elf-XXXXXX";
	int fd = mkstemp(path);
	uint32_t text, gone;

	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	close(fd);
	text = add_file(path);
	assert_int_equal(resolve(text, 0, false).result, SYMBOL_NOT_ELF);
	assert_string_equal(resolve(text, 0, false).module, path + 5);
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	gone = add_file(path);
	close(fd);
	unlink(path);
	if (gone == text)
		skip(); /* the file system gave the new file the old number */
	assert_int_equal(resolve(gone, 0, false).result, SYMBOL_NO_FILE);
	assert_int_equal(resolve(4711, 0, false).result, SYMBOL_NO_FILE);
}

static void offset_outside_every_segment_is_not_in_table(void **state)
{
	struct symbol symbol = resolve(add_file(FIXTURE_DIR "/pie"), 1ULL << 40, false);

	assert_int_equal(symbol.result, SYMBOL_NOT_IN_TABLE);
	assert_true(symbol.module_address == 1ULL << 40);
}

static void inlined_functions_come_with_their_callers(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "leaf_marker");
	struct symbol symbol;

	options.inlines = true;
	symbol = resolve(add_file(FIXTURE_DIR "/pie"), place.offset, false);
	assert_int_equal(symbol.result, SYMBOL_FOUND);
	assert_int_equal(symbol.line_count, 3);
	assert_string_equal(symbol.lines[0].function, "inlined_leaf");
	assert_true(symbol.lines[0].inlined);
	assert_string_equal(symbol.lines[1].function, "inlined_middle");
	assert_true(symbol.lines[1].inlined);
	assert_string_equal(symbol.lines[2].function, "outer_function");
	assert_false(symbol.lines[2].inlined);
	assert_null(symbol.lines[0].file);
}

static void lines_come_from_the_debug_file_too(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "leaf_marker");
	struct symbol symbol;

	options.lines = options.inlines = true;
	options.debug_dir = FIXTURE_DIR "/debug";
	symbol = resolve(add_file(FIXTURE_DIR "/stripped"), place.offset, false);
	assert_int_equal(symbol.line_count, 3);
	assert_int_equal(symbol.lines[0].line, 100);
	assert_non_null(strstr(symbol.lines[0].file, "leaf.c"));
	assert_int_equal(symbol.lines[1].line, 200);
	assert_non_null(strstr(symbol.lines[1].file, "middle.c"));
	assert_int_equal(symbol.lines[2].line, 300);
	assert_non_null(strstr(symbol.lines[2].file, "outer.c"));
}

static void copy_into(const char *from, const char *to)
{
	static char buffer[1 << 20];
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_TRUNC);
	ssize_t got;

	assert_true(in >= 0 && out >= 0);
	while ((got = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)got), got);
	close(in);
	close(out);
}

static void what_was_overwritten_has_no_name_rather_than_a_wrong_one(void **state)
{
	struct place place = find_place(FIXTURE_DIR "/pie", "outer_function");
	char path[] = "/tmp/pkbpf-elf-XXXXXX";
	uint32_t first, second;
	struct symbol symbol;

	close(mkstemp(path));
	copy_into(FIXTURE_DIR "/pie", path);
	first = add_file(path);
	assert_name(first, place.offset, "outer_function");
	copy_into(FIXTURE_DIR "/no_pie", path);
	/* Its symbol table is known, but its names are read from the file. */
	symbol = resolve(first, find_place(FIXTURE_DIR "/pie", "local_function").offset, false);
	assert_int_equal(symbol.result, SYMBOL_NO_FILE);
	assert_int_equal(symbol.line_count, 0);
	assert_string_equal(symbol.module, path + strlen("/tmp/"));
	second = add_file_at(path, clock_now_ns());
	assert_int_not_equal(second, first);
	place = find_place(FIXTURE_DIR "/no_pie", "outer_function");
	assert_name(second, place.offset, "outer_function");
	unlink(path);
}

static void what_was_forgotten_names_no_other_file_of_its_id(void **state)
{
	static const char *const paths[] = {FIXTURE_DIR "/pie", FIXTURE_DIR "/no_pie"};
	uint32_t kept = add_file(FIXTURE_DIR "/static");
	uint64_t kept_place = find_place(FIXTURE_DIR "/static", "outer_function").offset;
	const char *kept_name = resolve(kept, kept_place, false).lines[0].function;
	uint32_t first_id = 0;

	for (size_t i = 0; i < 2; i++) {
		struct place place = find_place(paths[i], "local_function");
		uint32_t id = add_file(paths[i]);
		const char *module, *name;
		bool is_used[8] = {false};

		first_id = i ? first_id : id;
		assert_int_equal(id, first_id);
		assert_name(id, place.offset, "local_function");
		assert_true(resolve(id, place.offset, false).module_address == place.address);
		module = resolve(id, place.offset, false).module;
		name = resolve(id, place.offset, false).lines[0].function;
		is_used[kept] = true;
		symbolizer_forget_files(symbolizer, is_used, sizeof(is_used));
		assert_int_equal(mapped_file_table_forget(files, is_used), 0);
		assert_string_equal(module, strrchr(paths[i], '/') + 1);
		assert_string_equal(name, "local_function");
	}
	assert_int_equal(resolve(first_id, 0x1000, false).result, SYMBOL_NO_FILE);
	assert_ptr_equal(resolve(kept, kept_place, false).lines[0].function, kept_name);
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		test(names_code_of_position_independent_programs),
		test(names_code_of_programs_at_fixed_addresses),
		test(names_code_of_static_programs),
		test(names_a_function_that_somebody_returns_to),
		test(a_file_that_could_not_be_opened_is_tried_again),
		test(a_function_without_a_name_has_not_that_of_the_next),
#ifdef HAS_CLASS32
		test(names_code_of_32_bit_programs),
#endif
		test(separate_debug_file_is_found_by_build_id),
		test(separate_debug_file_is_found_by_link_and_checksum),
		test(debug_file_with_another_checksum_is_not_believed),
		test(packed_mini_debuginfo_names_local_functions),
		test(stripped_file_says_so_and_gives_module_and_address),
		test(return_address_behind_a_function_belongs_to_it),
		test(label_at_the_end_of_a_section_stops_there),
		test(marks_between_code_and_data_name_nothing_on_arm),
#ifdef __x86_64__
		test(calls_into_other_files_go_through_named_stubs),
#endif
		test(vdso_is_named_from_its_image),
		test(file_that_is_gone_or_no_elf_says_so),
		test(offset_outside_every_segment_is_not_in_table),
		test(inlined_functions_come_with_their_callers),
		test(lines_come_from_the_debug_file_too),
		test(what_was_overwritten_has_no_name_rather_than_a_wrong_one),
		test(what_was_forgotten_names_no_other_file_of_its_id),
	};

	struct readers *readers = NULL;
	struct error error;
	int failed;

	elf_version(EV_CURRENT);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (readers_start((const reader_serve_fn[READER_SERVICES]){0}, &readers, &error) < 0) {
		print_message("not checked in another process: %s\n", error.text);
		return failed;
	}
	readers_stop(readers);
	is_apart = true;
	return failed + cmocka_run_group_tests_name("apart", tests, NULL, NULL);
}
