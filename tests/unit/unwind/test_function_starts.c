// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/function_starts: which symbols say where a function begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/elf_program.h"
#include "elf_recipe.h"
#include "unwind/code/function_starts.h"

#define TEXT	  ELF_RECIPE_TEXT_ADDRESS
#define TEXT_SIZE 0x1000U

#define SYMBOL(type, section, address)                                                             \
	{                                                                                          \
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type), .st_shndx = section,                   \
		.st_value = address                                                                \
	}

static struct function_starts starts_of(struct elf_recipe recipe, uint64_t text_start,
					uint64_t text_size)
{
	struct function_starts starts;
	struct elf_file *image;
	uint8_t *file;
	size_t size;

	recipe.text_size = TEXT_SIZE;
	file = elf_recipe_make(&recipe, &size);
	assert_non_null(file);
	assert_int_equal(elf_program_open_memory(file, size, &image), 0);
	function_starts_read(image, text_start, text_size, &starts);
	elf_program_free(image);
	free(file);
	return starts;
}

static void assert_starts(struct function_starts starts, const uint32_t *expected, size_t count)
{
	assert_int_equal(starts.count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(starts.items[i], expected[i]);
	array_free(&starts);
}

static void takes_functions_of_the_text_in_order(void **state)
{
	static const Elf64_Sym symbols[] = {
		SYMBOL(STT_NOTYPE, SHN_UNDEF, 0),
		SYMBOL(STT_FUNC, 1, TEXT + 0x400),
		SYMBOL(STT_FUNC, 1, TEXT + 0x200),
		SYMBOL(STT_FUNC, 1, TEXT + 0x400), /* an alias */
		SYMBOL(STT_OBJECT, 1, TEXT + 0x300),
		SYMBOL(STT_GNU_IFUNC, 1, TEXT + 0x310),
		SYMBOL(STT_FUNC, SHN_UNDEF, TEXT + 0x320), /* another library's */
		SYMBOL(STT_FUNC, 1, TEXT - 1),
		SYMBOL(STT_FUNC, 1, TEXT + TEXT_SIZE),
		SYMBOL(STT_FUNC, 1, TEXT + TEXT_SIZE - 1),
		SYMBOL(STT_FUNC, 1, TEXT),
		SYMBOL(STT_FUNC, 1, UINT64_MAX),
	};
	static const uint32_t expected[] = {0, 0x200, 0x400, TEXT_SIZE - 1};
	struct elf_recipe recipe = {.symbols = (const uint8_t *)symbols,
				    .symbols_size = sizeof(symbols)};

	(void)state;
	assert_starts(starts_of(recipe, TEXT, TEXT_SIZE), expected, ARRAY_SIZE(expected));
	recipe.symbols_are_dynamic = true;
	assert_starts(starts_of(recipe, TEXT, TEXT_SIZE), expected, ARRAY_SIZE(expected));
}

static void takes_no_offset_that_32_bits_do_not_hold(void **state)
{
	static const Elf64_Sym symbols[] = {SYMBOL(STT_FUNC, 1, TEXT),
					    SYMBOL(STT_FUNC, 1, TEXT + UINT32_MAX),
					    SYMBOL(STT_FUNC, 1, TEXT + UINT32_MAX + 1)};
	static const uint32_t expected[] = {0, UINT32_MAX};
	struct elf_recipe recipe = {.symbols = (const uint8_t *)symbols,
				    .symbols_size = sizeof(symbols)};

	(void)state;
	assert_starts(starts_of(recipe, TEXT, UINT64_MAX), expected, ARRAY_SIZE(expected));
}

static void leaves_half_a_symbol_out(void **state)
{
	static const Elf64_Sym symbols[] = {SYMBOL(STT_FUNC, 1, TEXT + 1),
					    SYMBOL(STT_FUNC, 1, TEXT + 2)};
	static const uint32_t expected[] = {1};
	struct elf_recipe recipe = {.symbols = (const uint8_t *)symbols,
				    .symbols_size = sizeof(symbols) - 1};

	(void)state;
	assert_starts(starts_of(recipe, TEXT, TEXT_SIZE), expected, ARRAY_SIZE(expected));
}

static void knows_nothing_of_a_file_without_symbols(void **state)
{
	static const Elf64_Sym symbols[] = {SYMBOL(STT_FUNC, 1, TEXT)};

	(void)state;
	assert_starts(starts_of((struct elf_recipe){0}, TEXT, TEXT_SIZE), NULL, 0);
	assert_starts(starts_of((struct elf_recipe){.symbols = (const uint8_t *)symbols,
						    .symbols_size = sizeof(symbols),
						    .has_no_sections = true},
				TEXT, TEXT_SIZE),
		      NULL, 0);
}

/* The least and the last of a table that is larger than what is read of one. */
static void reads_a_bounded_part_of_a_table(void **state)
{
	size_t room = FUNCTION_STARTS_MAX_TABLE_BYTES / sizeof(Elf64_Sym);
	Elf64_Sym *symbols = calloc(room + 1, sizeof(*symbols));
	const Elf64_Sym first = SYMBOL(STT_FUNC, 1, TEXT + 1), last = SYMBOL(STT_FUNC, 1, TEXT + 2),
			beyond = SYMBOL(STT_FUNC, 1, TEXT + 3);
	static const uint32_t expected[] = {1, 2};

	(void)state;
	assert_non_null(symbols);
	symbols[0] = first;
	symbols[room - 1] = last;
	symbols[room] = beyond;
	assert_starts(starts_of((struct elf_recipe){.symbols = (const uint8_t *)symbols,
						    .symbols_size = (room + 1) * sizeof(*symbols)},
				TEXT, TEXT_SIZE),
		      expected, ARRAY_SIZE(expected));
	free(symbols);
}

static void check_main(const uint8_t *entry_code, size_t size, const uint32_t *expected,
		       size_t count)
{
	static uint8_t text[TEXT_SIZE];

	memset(text, 0xcc, sizeof(text));
	memcpy(text + 0x100, entry_code, size);
	assert_starts(starts_of((struct elf_recipe){.entry = TEXT + 0x100, .text = text}, TEXT,
				TEXT_SIZE),
		      expected, count);
}

/* The entry passes it on to the C library. */
static void finds_main(void **state)
{
	/* xor %ebp,%ebp; lea 0x200(%rip),%rdi; call *(%rip); lea, which is behind it */
	static const uint8_t by_distance[] = {0x31, 0xed, 0x48, 0x8d, 0x3d, 0, 2, 0,
					      0,    0xff, 0x15, 0,    0,    0, 0, 0x48,
					      0x8d, 0x3d, 0,	0,    0,    0};
	/* mov $0x401456,%rdi; hlt */
	static const uint8_t by_address[] = {0x48, 0xc7, 0xc7, 0x56, 0x14, 0x40, 0, 0xf4};
	/* mov $0x2401456,%rdi, which is no code of the file; mov $0x401456,%rsi; hlt */
	static const uint8_t elsewhere[] = {0x48, 0xc7, 0xc7, 0x56, 0x14, 0x40, 2,   0x48,
					    0xc7, 0xc6, 0x56, 0x14, 0x40, 0,	0xf4};
	static const uint32_t expected[] = {0x309, 0x456};

	(void)state;
	check_main(by_distance, sizeof(by_distance), expected, 1);
	check_main(by_address, sizeof(by_address), expected + 1, 1);
	check_main(elsewhere, sizeof(elsewhere), NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_functions_of_the_text_in_order),
		cmocka_unit_test(takes_no_offset_that_32_bits_do_not_hold),
		cmocka_unit_test(leaves_half_a_symbol_out),
		cmocka_unit_test(knows_nothing_of_a_file_without_symbols),
		cmocka_unit_test(reads_a_bounded_part_of_a_table),
		cmocka_unit_test(finds_main),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
