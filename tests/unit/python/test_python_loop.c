// SPDX-License-Identifier: BSD-2-Clause
/* Tests for python/python_loop: the part of a function that its jumps lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "interpreters.h"
#include "python/python_loop.h"

#define LOOP	0x100000ULL
#define COLD	0x2000ULL
#define OTHER	0x3000ULL
#define NO_SUCH 0x9000ULL

static uint64_t function_of(void *context, uint64_t address)
{
	(void)context;
	return address >= COLD && address < OTHER      ? COLD
	       : address >= OTHER && address < NO_SUCH ? OTHER
						       : 0;
}

struct code {
	uint8_t bytes[512];
	size_t size;
};

/* A conditional jump, or one in tail position. */
static void add_jump(struct code *code, uint64_t target, int is_tail)
{
	int32_t distance;

	if (!is_tail)
		code->bytes[code->size++] = 0x0f;
	code->bytes[code->size++] = is_tail ? 0xe9 : 0x85;
	distance = (int32_t)(target - (LOOP + code->size + 4));
	memcpy(code->bytes + code->size, &distance, sizeof(distance));
	code->size += sizeof(distance);
}

static void most_jumps_lead_to_the_seldom_used_part(void **state)
{
	struct code code = {.size = 0};

	(void)state;
	for (uint64_t i = 1; i <= 12; i++) {
		add_jump(&code, COLD + 16 * i, i % 2);
		add_jump(&code, OTHER, 1);
		add_jump(&code, LOOP + i, 0);
		add_jump(&code, NO_SUCH + 16 * i, 0);
	}
	assert_int_equal(python_loop_cold_part(code.bytes, code.size, LOOP, function_of, NULL),
			 COLD);
}

static void few_jumps_are_no_part(void **state)
{
	struct code code = {.size = 0};

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add_jump(&code, COLD + 16 * i, 0);
	assert_int_equal(python_loop_cold_part(code.bytes, code.size, LOOP, function_of, NULL), 0);
	assert_int_equal(python_loop_cold_part(code.bytes, 0, LOOP, function_of, NULL), 0);
}

static bool is_code(const struct elf_file *file, const struct python_loop_part *part)
{
	for (size_t i = 0; i < file->segments.count; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (elf_segment_is_code(segment) && part->start >= segment->address &&
		    part->start - segment->address < segment->file_size)
			return part->size <= segment->file_size - (part->start - segment->address);
	}
	return false;
}

/* Those of this machine, as far as they are not in a library. */
static void parts_of_an_interpreter_are_code_and_apart(void **state)
{
	struct interpreters interpreters;

	(void)state;
	interpreters_find(&interpreters);
	for (size_t i = 0; i < interpreters.count; i++) {
		struct python_loop_part parts[PKBPF_PYTHON_LOOP_PARTS];
		int fd = open(interpreters.paths[i], O_RDONLY | O_CLOEXEC);
		struct elf_file file;

		assert_int_equal(elf_file_open(&file, fd), 0);
		python_loop_find(&file, parts);
		if (parts[0].size) {
			assert_true(parts[0].size > 1024 && is_code(&file, &parts[0]));
			if (parts[1].size)
				assert_true(is_code(&file, &parts[1]) &&
					    (parts[1].start + parts[1].size <= parts[0].start ||
					     parts[0].start + parts[0].size <= parts[1].start));
		} else {
			assert_int_equal(parts[1].size, 0);
		}
		elf_file_done(&file);
		close(fd);
	}
	interpreters_done(&interpreters);
}

/* Another program has none. */
static void other_programs_have_no_loop(void **state)
{
	struct python_loop_part parts[PKBPF_PYTHON_LOOP_PARTS];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file file;

	(void)state;
	memset(parts, 0x5a, sizeof(parts));
	assert_int_equal(elf_file_open(&file, fd), 0);
	python_loop_find(&file, parts);
	for (size_t i = 0; i < PKBPF_PYTHON_LOOP_PARTS; i++)
		assert_true(parts[i].start == 0 && parts[i].size == 0);
	elf_file_done(&file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(most_jumps_lead_to_the_seldom_used_part),
		cmocka_unit_test(few_jumps_are_no_part),
		cmocka_unit_test(parts_of_an_interpreter_are_code_and_apart),
		cmocka_unit_test(other_programs_have_no_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
