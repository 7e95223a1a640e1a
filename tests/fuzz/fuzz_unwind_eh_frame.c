// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds the unwind table builder with hostile files: an input that begins like an ELF file is one;
 * of any other, the first byte says whether the rest is .eh_frame, .debug_frame, text, symbols or
 * Go's table, of which machine, and whether the file has sections.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf_recipe.h"
#include "unwind/code/special_code.h"
#include "unwind/table/unwind_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	AS_DEBUG_FRAME = 1,
	AS_ARM64 = 2,
	WITHOUT_SECTIONS = 4,
	AS_GO = 8,
	AS_TEXT = 16,
	AS_GO_TABLE = 32,
	AS_SYMBOLS = 64
};

#define FUZZ_TEXT_SIZE 20000

/* A CIE and the FDE of one byte at the start of the text, so that all behind it is a gap. */
static const uint8_t one_function[] = {
	20, 0, 0, 0, 0, 0, 0,  0, 1, 0, 1,  0x78, 16, 0x0c, 7,	  8,	0x90, 1,
	0,  0, 0, 0, 0, 0, 20, 0, 0, 0, 28, 0,	  0,  0,    0x00, 0x10, 0x40, 0,
	0,  0, 0, 0, 1, 0, 0,  0, 0, 0, 0,  0,	  0,  0,    0,	  0,
};

/* What the frame step relies on. */
static void check_table(const struct unwind_table *table, const struct rule_set *rules, size_t size)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < table->page_count; i++) {
		const struct pkbpf_unwind_page *page = &table->pages[i];

		if (page->count == 0)
			continue;
		if (page->first != next || page->count > PKBPF_MAX_PAGE_ROWS ||
		    PKBPF_ROW_OFFSET(table->rows[page->first]) != 0)
			abort();
		for (uint32_t row = 1; row < page->count; row++)
			if (PKBPF_ROW_OFFSET(table->rows[page->first + row]) <=
			    PKBPF_ROW_OFFSET(table->rows[page->first + row - 1]))
				abort();
		next += page->count;
	}
	if (next != table->row_count)
		abort();
	for (uint32_t row = 0; row < table->row_count; row++)
		if (PKBPF_ROW_RULE(table->rows[row]) >= rule_set_count(rules))
			abort();
	/* The bound that the header promises. */
	if (table->row_count >
	    2 * size + 4 * (size_t)SPECIAL_CODE_MAX_COUNT + 2 * (size_t)table->page_count)
		abort();
}

static void check_lookups(const struct unwind_table *table, const struct rule_set *rules)
{
	for (uint64_t offset = 0;
	     offset < (uint64_t)table->page_count << PKBPF_TEXT_PAGE_SHIFT && offset < 65536;
	     offset += 97)
		unwind_table_lookup(table, rules, table->text_start + offset);
	unwind_table_lookup(table, rules, table->text_start - 1);
	unwind_table_lookup(table, rules, UINT64_MAX);
}

static void build(const uint8_t *file, size_t size, enum elf_image_layout layout)
{
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table;
	struct elf_image *image;
	struct error error;
	uint64_t bias;

	if (rules && elf_image_open_memory(file, size, layout, &image, &error) == 0) {
		elf_image_bias(image, 0x7f0000000000, 0x1000, &bias);
		if (unwind_table_build(image, false, rules, &table, &error) == 0) {
			check_table(table, rules, size);
			check_lookups(table, rules);
			unwind_table_free(table);
		}
		elf_image_free(image);
	}
	rule_set_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t nothing[4];
	struct elf_recipe recipe = {.text_size = FUZZ_TEXT_SIZE};
	size_t file_size;
	uint8_t *file;

	if (size > 4 && memcmp(data, ELFMAG, SELFMAG) == 0) {
		build(data, size, ELF_IMAGE_FILE);
		build(data, size, ELF_IMAGE_LOADED);
		return 0;
	}
	if (size < 2 || size > 1 << 20)
		return 0;
	if (data[0] & AS_ARM64)
		recipe.machine = EM_AARCH64;
	if (data[0] & AS_GO)
		recipe.extra_section = ".gopclntab";
	recipe.has_no_sections = data[0] & WITHOUT_SECTIONS;
	recipe.entry = ELF_RECIPE_TEXT_ADDRESS;
	recipe.eh_frame = nothing;
	recipe.eh_frame_size = sizeof(nothing);
	if (data[0] & AS_GO_TABLE) {
		recipe.extra_section = data[0] & AS_GO ? ".gopclntab" : ".go.buildinfo";
		recipe.extra = data + 1;
		recipe.extra_size = size - 1;
	} else if (data[0] & AS_SYMBOLS) {
		/* They are text as well, so that they may lead to something. */
		recipe.text = recipe.symbols = data + 1;
		recipe.text_size = recipe.symbols_size = size - 1;
		recipe.symbols_are_dynamic = data[0] & AS_TEXT;
		recipe.eh_frame = one_function;
		recipe.eh_frame_size = sizeof(one_function);
	} else if (data[0] & AS_TEXT) {
		recipe.text = data + 1;
		recipe.text_size = size - 1;
		recipe.plt_size = size - 1;
		if (size > 64) {
			recipe.eh_frame = data + 1;
			recipe.eh_frame_size = 64;
		}
	} else if (data[0] & AS_DEBUG_FRAME) {
		recipe.debug_frame = data + 1;
		recipe.debug_frame_size = size - 1;
	} else {
		recipe.eh_frame = data + 1;
		recipe.eh_frame_size = size - 1;
	}
	file = elf_recipe_make(&recipe, &file_size);
	if (file)
		build(file, file_size, ELF_IMAGE_FILE);
	free(file);
	return 0;
}
