// SPDX-License-Identifier: BSD-2-Clause
/* What the building thread publishes of a file whose code is read in two parts, and puts in its
 * place later. */
#include <elf.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cfi_bytes.h"
#include "code_file.h"
#include "elf_recipe.h"
#include "plain_memory.h"
#include "process/file/mapped_file.h"
#include "unwind/code/code_gaps.h"
#include "elf/elf_program.h"
#include "unwind/table/table_cache.h"

#define WAIT_NS	   (30 * NS_PER_SECOND)
#define TEXT	   ELF_RECIPE_TEXT_ADDRESS
#define PAGE	   4096U
#define TEXT_PAGES (2 * CODE_GAPS_PROMPT_BYTES / PAGE)
/* Of a file all of whose code is read at once. */
#define PROMPT_PAGES	  (CODE_GAPS_PROMPT_BYTES / PAGE)
#define PROMPT_FILES	  8
#define FILE_NUMBERS	  16
#define LARGE_FILES	  1024
#define LARGE_SECTIONS	  4096
#define ROWS_PER_FUNCTION 5

/* push %rbx; sub $0x10,%rsp; xor %eax,%eax; add $0x10,%rsp; pop %rbx; ret, then int3 */
static const uint8_t function[16] = {0x53, 0x48, 0x83, 0xec, 0x10, 0x31, 0xc0, 0x48,
				     0x83, 0xc4, 0x10, 0x5b, 0xc3, 0xcc, 0xcc, 0xcc};
#define BODY	    5 /* where its stack is largest, by FRAME_BYTES */
#define FRAME_BYTES 32

struct fixture {
	struct plain_memory plain;
	struct mapped_file_table *files;
	struct table_cache *cache;
	struct code_file code;
	struct pkbpf_unwind_mapping published;
	uint32_t file;
};

/* A linker's search table would be as large. */
static void announce_functions(uint8_t *file, uint32_t count)
{
	const Elf64_Ehdr *header = (const void *)file;
	Elf64_Phdr *segments = (void *)(file + header->e_phoff);

	for (uint32_t i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			segments[i].p_filesz = count * 8;
	}
}

/* A described function, then undescribed ones, then pages of nothing. */
static void write_file(struct code_file *code, uint32_t pages, uint32_t empty_pages)
{
	uint32_t size = pages * PAGE;
	uint8_t *text = malloc(size), *file;
	struct elf_recipe recipe = {.text = text, .text_size = size};
	struct cfi_bytes bytes = {0};
	size_t file_size;

	assert_non_null(text);
	memset(text, 0xcc, size);
	for (uint32_t at = 0; at < size - empty_pages * PAGE; at += sizeof(function))
		memcpy(text + at, function, sizeof(function));
	cfi_bytes_cie(&bytes, "zR");
	CFI_FDE(&bytes, TEXT, 0x100, "");
	recipe.eh_frame = bytes.data;
	recipe.eh_frame_size = bytes.size;
	file = elf_recipe_make(&recipe, &file_size);
	assert_non_null(file);
	announce_functions(file, size / sizeof(function) * ROWS_PER_FUNCTION / 8);
	assert_true(code_file_write(code, file, file_size, size));
	free(file);
	free(text);
	cfi_bytes_done(&bytes);
}

typedef int (*create_fn)(void *context, uint32_t first, uint32_t count, uint32_t **ret_rows);

static void begin_cache_of(struct fixture *fixture, uint32_t room_pages, uint32_t max_chunks,
			   create_fn create, uint32_t numbers)
{
	struct table_cache_options options = {.max_chunks = max_chunks, .initial_chunks = 1};

	plain_memory_init(&fixture->plain, room_pages, numbers);
	fixture->plain.memory.chunks.create = create;
	options.files = fixture->files = mapped_file_table_new("");
	assert_non_null(fixture->files);
	fixture->cache = table_cache_new(&fixture->plain.memory, &options);
	assert_non_null(fixture->cache);
}

static void begin_cache(struct fixture *fixture, uint32_t room_pages, uint32_t max_chunks,
			create_fn create)
{
	begin_cache_of(fixture, room_pages, max_chunks, create, FILE_NUMBERS);
}

static void begin(struct fixture *fixture, uint32_t empty_pages, uint32_t room_pages)
{
	*fixture = (struct fixture){0};
	write_file(&fixture->code, TEXT_PAGES, empty_pages);
	begin_cache(fixture, room_pages, 4, plain_memory_create);
	fixture->file = table_cache_add(fixture->cache, &fixture->code.mapping);
	assert_int_not_equal(fixture->file, MAPPING_NO_FILE);
	assert_true(table_cache_wait(fixture->cache, WAIT_NS));
	assert_true(table_cache_ready(fixture->cache, fixture->file));
	table_cache_describe(fixture->cache, fixture->file, CODE_FILE_MAP_START, 0,
			     ELF_RECIPE_TEXT_OFFSET, &fixture->published);
	assert_int_equal(fixture->published.bias, CODE_FILE_MAP_START - TEXT);
}

static void end_cache(struct fixture *fixture)
{
	table_cache_free(fixture->cache);
	mapped_file_table_free(fixture->files);
	plain_memory_done(&fixture->plain);
}

static void end(struct fixture *fixture)
{
	end_cache(fixture);
	code_file_remove(&fixture->code);
}

static struct pkbpf_unwind_rule rule_at(struct fixture *fixture, uint32_t offset)
{
	struct pkbpf_unwind_rule rule = {0};

	assert_true(table_cache_find_rule(fixture->cache, fixture->file, TEXT + offset, &rule));
	return rule;
}

static struct pkbpf_unwind_file entry_of(const struct fixture *fixture)
{
	return fixture->plain.memory.files[fixture->published.file];
}

static uint64_t built(struct fixture *fixture)
{
	assert_true(table_cache_wait(fixture->cache, WAIT_NS));
	return table_cache_stats(fixture->cache).built;
}

static void assert_body(struct fixture *fixture, uint32_t function_at)
{
	struct pkbpf_unwind_rule rule = rule_at(fixture, function_at + BODY);

	assert_int_equal(rule.cfa, PKBPF_CFA_SP);
	assert_int_equal(rule.cfa_offset, FRAME_BYTES);
}

/* The building thread gives room back when nothing waits to be built. */
static void assert_waits_for_readers(struct fixture *fixture)
{
	uint64_t until_ns = clock_now_ns() + WAIT_NS;

	while (!__atomic_load_n(&fixture->plain.waits, __ATOMIC_RELAXED) &&
	       clock_now_ns() < until_ns)
		usleep(1000);
	assert_int_equal(__atomic_load_n(&fixture->plain.waits, __ATOMIC_RELAXED), 1);
}

static void reads_much_undescribed_code_when_somebody_comes_to_it(void **state)
{
	uint32_t far = 100 * PAGE;
	struct pkbpf_unwind_file before, after;
	struct fixture fixture;

	begin(&fixture, 0, 4 * TEXT_PAGES);
	assert_int_equal(rule_at(&fixture, 0x80).cfa, PKBPF_CFA_SP);
	assert_int_equal(rule_at(&fixture, far + BODY).cfa, PKBPF_CFA_PENDING);
	before = entry_of(&fixture);
	/* Nobody has missed anything here. */
	table_cache_want(fixture.cache, fixture.file);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + 0x80);
	assert_int_equal(built(&fixture), 1);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + far + BODY);
	assert_true(table_cache_ready(fixture.cache, fixture.file));
	assert_int_equal(built(&fixture), 2);
	assert_body(&fixture, far);
	assert_body(&fixture, TEXT_PAGES * PAGE - sizeof(function));
	assert_int_equal(rule_at(&fixture, 0x80).cfa_offset, 8);
	after = entry_of(&fixture);
	assert_int_equal(after.flags, PKBPF_FILE_READY);
	assert_int_equal(after.text_start, before.text_start);
	assert_int_equal(after.page_count, before.page_count);
	assert_int_not_equal(after.first_page, before.first_page);
	assert_int_not_equal(after.edition, before.edition);
	assert_waits_for_readers(&fixture);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + far + BODY);
	assert_int_equal(built(&fixture), 2);
	end(&fixture);
}

static void reads_it_for_a_return_address_behind_its_last_call(void **state)
{
	struct fixture fixture;

	begin(&fixture, 1, 4 * TEXT_PAGES);
	assert_int_equal(rule_at(&fixture, TEXT_PAGES * PAGE - 1).cfa, PKBPF_CFA_PENDING);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + TEXT_PAGES * PAGE);
	assert_int_equal(built(&fixture), 2);
	end(&fixture);
}

static void publishes_fewer_pages_than_before(void **state)
{
	struct pkbpf_unwind_rule rule;
	struct fixture fixture;

	begin(&fixture, 3, 4 * TEXT_PAGES);
	assert_int_equal(entry_of(&fixture).page_count, TEXT_PAGES);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + PAGE);
	assert_int_equal(built(&fixture), 2);
	assert_int_equal(entry_of(&fixture).flags, PKBPF_FILE_READY);
	assert_true(entry_of(&fixture).page_count < TEXT_PAGES);
	assert_body(&fixture, PAGE);
	assert_true(table_cache_find_rule(fixture.cache, fixture.file,
					  TEXT + (TEXT_PAGES - 1) * PAGE, &rule));
	assert_int_equal(rule.cfa, PKBPF_CFA_NONE);
	assert_waits_for_readers(&fixture);
	end(&fixture);
}

static void keeps_what_it_has_where_there_is_no_room_for_more(void **state)
{
	struct pkbpf_unwind_file before;
	struct fixture fixture;

	begin(&fixture, 0, TEXT_PAGES + 1);
	before = entry_of(&fixture);
	table_cache_want_code(fixture.cache, fixture.file, TEXT + PAGE);
	assert_int_equal(built(&fixture), 2);
	assert_true(table_cache_ready(fixture.cache, fixture.file));
	assert_int_equal(rule_at(&fixture, 0x80).cfa, PKBPF_CFA_SP);
	assert_int_equal(rule_at(&fixture, PAGE).cfa, PKBPF_CFA_PENDING);
	assert_int_equal(entry_of(&fixture).flags, PKBPF_FILE_READY);
	assert_int_equal(entry_of(&fixture).edition, before.edition);
	/* Not again at once. */
	table_cache_want_code(fixture.cache, fixture.file, TEXT + PAGE);
	assert_int_equal(built(&fixture), 2);
	end(&fixture);
}

static sem_t all_queued;

static int create_when_all_are_queued(void *context, uint32_t first, uint32_t count,
				      uint32_t **ret_rows)
{
	sem_wait(&all_queued);
	sem_post(&all_queued);
	return plain_memory_create(context, first, count, ret_rows);
}

static void asks_for_room_once_for_all_that_waits(void **state)
{
	static struct code_file codes[PROMPT_FILES];
	struct fixture fixture = {0};
	uint32_t files[PROMPT_FILES];

	sem_init(&all_queued, 0, 0);
	for (uint32_t i = 0; i < PROMPT_FILES; i++)
		write_file(&codes[i], PROMPT_PAGES, 0);
	begin_cache(&fixture, PROMPT_FILES * PROMPT_PAGES, 16, create_when_all_are_queued);
	for (uint32_t i = 0; i < PROMPT_FILES; i++) {
		files[i] = table_cache_add(fixture.cache, &codes[i].mapping);
		/* On a busy machine those that nobody maps are left out: their turn comes late. */
		table_cache_reference(fixture.cache, files[i]);
	}
	sem_post(&all_queued);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t i = 0; i < PROMPT_FILES; i++)
		assert_true(table_cache_ready(fixture.cache, files[i]));
	/* More than the first chunk holds, and one more request for all of it. */
	assert_true(table_cache_stats(fixture.cache).rows > 2 * PKBPF_CHUNK_ROWS);
	assert_int_equal(fixture.plain.creations, 2);
	end_cache(&fixture);
	for (uint32_t i = 0; i < PROMPT_FILES; i++)
		code_file_remove(&codes[i]);
	sem_destroy(&all_queued);
}

static void leaves_out_what_nobody_maps_when_its_turn_comes_late(void **state)
{
	enum { BUILT, MAPPED, WANTED, GONE, FILES };
	static struct code_file codes[FILES];
	struct fixture fixture = {0};
	uint32_t files[FILES];

	sem_init(&all_queued, 0, 0);
	begin_cache(&fixture, FILES * PROMPT_PAGES, 4, create_when_all_are_queued);
	for (uint32_t i = 0; i < FILES; i++) {
		write_file(&codes[i], 1, 0);
		files[i] = table_cache_add(fixture.cache, &codes[i].mapping);
	}
	table_cache_reference(fixture.cache, files[BUILT]);
	table_cache_reference(fixture.cache, files[MAPPED]);
	/* The builder waits for its first chunk meanwhile. */
	sleep(5);
	table_cache_want(fixture.cache, files[WANTED]);
	sem_post(&all_queued);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	assert_true(table_cache_ready(fixture.cache, files[BUILT]));
	assert_true(table_cache_ready(fixture.cache, files[MAPPED]));
	assert_true(table_cache_ready(fixture.cache, files[WANTED]));
	assert_false(table_cache_ready(fixture.cache, files[GONE]));
	assert_int_equal(table_cache_stats(fixture.cache).built, 3);
	/* Somebody comes to it all the same. */
	table_cache_want(fixture.cache, files[GONE]);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	assert_true(table_cache_ready(fixture.cache, files[GONE]));
	end_cache(&fixture);
	for (uint32_t i = 0; i < FILES; i++)
		code_file_remove(&codes[i]);
	sem_destroy(&all_queued);
}

/* A quarter of a MiB of sections, of which none is anything but the one with their names. */
static void claim_sections(struct code_file *code)
{
	int fd = open(code->path, O_RDWR);
	Elf64_Shdr names = {.sh_type = SHT_STRTAB, .sh_size = 1};
	Elf64_Ehdr header;
	off_t end = lseek(fd, 0, SEEK_END);

	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	header.e_shoff = (uint64_t)end;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shnum = LARGE_SECTIONS;
	header.e_shstrndx = 1;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &names, sizeof(names), end + (off_t)sizeof(names)),
			 sizeof(names));
	assert_int_equal(ftruncate(fd, end + (off_t)(LARGE_SECTIONS * sizeof(Elf64_Shdr))), 0);
	close(fd);
	/* File systems' clocks lag by some milliseconds. */
	code->mapping.time_ns = clock_now_ns() + NS_PER_SECOND;
}

static void what_waits_open_takes_no_more_memory_than_allowed(void **state)
{
	static struct code_file codes[LARGE_FILES];
	struct fixture fixture = {0};
	uint32_t files[LARGE_FILES], waiting;

	sem_init(&all_queued, 0, 0);
	begin_cache_of(&fixture, 2 * LARGE_FILES, 16, create_when_all_are_queued, LARGE_FILES);
	for (uint32_t i = 0; i < LARGE_FILES; i++) {
		write_file(&codes[i], 1, 0);
		claim_sections(&codes[i]);
		files[i] = table_cache_add(fixture.cache, &codes[i].mapping);
		table_cache_reference(fixture.cache, files[i]);
	}
	waiting = table_cache_stats(fixture.cache).waiting;
	assert_true(waiting > LARGE_FILES / 4 && waiting < LARGE_FILES);
	assert_int_equal(table_cache_stats(fixture.cache).no_room, LARGE_FILES - waiting);
	sem_post(&all_queued);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	assert_true(table_cache_ready(fixture.cache, files[0]));
	/* Later there is room for the others, whatever the first ones had. */
	usleep(600000);
	for (uint32_t i = waiting; i < LARGE_FILES; i++)
		table_cache_want(fixture.cache, files[i]);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t i = 0; i < LARGE_FILES; i++) {
		assert_true(table_cache_ready(fixture.cache, files[i]));
		code_file_remove(&codes[i]);
	}
	end_cache(&fixture);
	sem_destroy(&all_queued);
}

static void a_file_that_was_overwritten_in_the_queue_gives_its_number_back(void **state)
{
	static struct code_file codes[FILE_NUMBERS + 1];
	struct fixture fixture = {0};
	uint32_t files[FILE_NUMBERS + 1];
	uint64_t until_ns;

	sem_init(&all_queued, 0, 0);
	begin_cache(&fixture, (FILE_NUMBERS + 1) * PROMPT_PAGES, 4, create_when_all_are_queued);
	for (uint32_t i = 0; i < FILE_NUMBERS; i++) {
		write_file(&codes[i], 1, 0);
		files[i] = table_cache_add(fixture.cache, &codes[i].mapping);
		assert_int_equal(truncate(codes[i].path, 3 * PAGE), 0);
	}
	sem_post(&all_queued);
	assert_true(table_cache_wait(fixture.cache, WAIT_NS));
	for (uint32_t i = 0; i < FILE_NUMBERS; i++)
		assert_false(table_cache_ready(fixture.cache, files[i]));
	write_file(&codes[FILE_NUMBERS], 1, 0);
	files[FILE_NUMBERS] = table_cache_add(fixture.cache, &codes[FILE_NUMBERS].mapping);
	until_ns = clock_now_ns() + WAIT_NS;
	while (!table_cache_ready(fixture.cache, files[FILE_NUMBERS]) &&
	       clock_now_ns() < until_ns) {
		table_cache_want(fixture.cache, files[FILE_NUMBERS]);
		usleep(10000);
	}
	assert_true(table_cache_ready(fixture.cache, files[FILE_NUMBERS]));
	end_cache(&fixture);
	for (uint32_t i = 0; i <= FILE_NUMBERS; i++)
		code_file_remove(&codes[i]);
	sem_destroy(&all_queued);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_much_undescribed_code_when_somebody_comes_to_it),
		cmocka_unit_test(reads_it_for_a_return_address_behind_its_last_call),
		cmocka_unit_test(publishes_fewer_pages_than_before),
		cmocka_unit_test(keeps_what_it_has_where_there_is_no_room_for_more),
		cmocka_unit_test(asks_for_room_once_for_all_that_waits),
		cmocka_unit_test(leaves_out_what_nobody_maps_when_its_turn_comes_late),
		cmocka_unit_test(what_waits_open_takes_no_more_memory_than_allowed),
		cmocka_unit_test(a_file_that_was_overwritten_in_the_queue_gives_its_number_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
