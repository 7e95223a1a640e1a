// SPDX-License-Identifier: BSD-2-Clause
/*
 * Feeds hostile ELF files to the reader and to its users, the table builder, the symbolizer, and
 * what is looked for in files by the process that has capabilities: the Python runtime, starts of
 * functions, probes. An input that begins like an ELF file is one; of any other, the first byte
 * says whether the rest is .eh_frame, .debug_frame, text, symbols or Go's table, of which machine,
 * and whether the file has sections.
 */
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/build_id.h"
#include "elf/elf_functions.h"
#include "elf/elf_program.h"
#include "elf/usdt_site.h"
#include "elf_recipe.h"
#include "python/python_image.h"
#include "symbol/elf/elf_module.h"
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
	AS_SYMBOLS = 64,
	AS_PYTHON = 128
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

/* What they find lies in the file's segments, and what is told has an end. */
static void look_for(const struct elf_file *file)
{
	static const char *const paths[] = {"/usr/lib/libpython3.8.so", "/usr/bin/python3", NULL};
	struct elf_functions functions = {0};
	struct usdt_site site;
	uint64_t start, address;
	char soname[64];

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct python_image image;
		int err = python_image_find(file, paths[i], &image);

		if ((!err || err == -ENOTSUP) &&
		    !memchr(image.unknown, '\0', sizeof(image.unknown)))
			abort();
		if (!err && (!image.runtime || !image.version))
			abort();
	}
	if (elf_functions_load(&functions, file) == 0) {
		if (functions.count > ELF_FUNCTIONS_MAX)
			abort();
		for (address = ELF_RECIPE_TEXT_ADDRESS - 1;
		     address < ELF_RECIPE_TEXT_ADDRESS + 4096; address += 61) {
			if (elf_functions_find(&functions, file, address, &start) == 0 &&
			    start > address)
				abort();
			elf_functions_end(&functions, file, address);
		}
		elf_functions_find(&functions, file, UINT64_MAX, &start);
	}
	elf_functions_done(&functions);
	usdt_site_find(file, "python", "function__entry", &site);
	elf_program_soname(file, soname, sizeof(soname));
	if (!memchr(soname, '\0', sizeof(soname)))
		abort();
	elf_program_role(file);
}

static void build(const uint8_t *data, size_t size)
{
	struct rule_set *rules = rule_set_new();
	struct unwind_table *table;
	struct elf_file *file;
	struct error error;
	uint64_t bias;

	if (rules && elf_program_open_memory(data, size, &file) == 0) {
		elf_segments_bias(&file->segments, 0x7f0000000000, 0, 0x1000, &bias);
		if (unwind_table_build(file, false, rules, &table, &error) == 0) {
			check_table(table, rules, size);
			check_lookups(table, rules);
			unwind_table_free(table);
		}
		look_for(file);
		elf_program_free(file);
	}
	rule_set_free(rules);
}

static void look_up(const struct elf_module *module, const uint8_t *data, uint64_t address)
{
	static char name[ELF_SYMBOL_NAME_SIZE];
	const struct symbol_entry *entry;

	if (elf_module_find(module, -1, data, address, name, &entry) == 0 && entry &&
	    address - entry->address >= entry->size)
		abort();
	elf_module_locate(module, address);
}

static void symbolize(const uint8_t *data, size_t size)
{
	const struct elf_module_options options = {
		.search = {.root = "", .debug_dir = "", .path = ""}};
	struct elf_module module;
	struct elf_file file;
	struct build_id id;
	uint64_t address;

	if (elf_file_open_memory(&file, data, size))
		return;
	build_id_read(&file, &id);
	elf_segments_address(&file.segments, 0x1000, &address);
	elf_module_load(&module, &file, &options);
	elf_file_done(&file);
	for (size_t i = 0; i < module.source_count; i++) {
		const struct symbol_table *table = &module.sources[i].symbols.table;

		for (size_t j = 0; j < table->count && j < 64; j++)
			look_up(&module, data, table->entries[j].address);
	}
	for (size_t i = 0; i < module.stub_count; i++) {
		look_up(&module, data, module.stubs[i].start);
		look_up(&module, data, module.stubs[i].start + 20);
		look_up(&module, data, module.stubs[i].end - 1);
	}
	look_up(&module, data, 0);
	look_up(&module, data, UINT64_MAX);
	elf_module_done(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t nothing[4];
	struct elf_recipe recipe = {.text_size = FUZZ_TEXT_SIZE};
	size_t file_size;
	uint8_t *file;

	if (size > 4 && memcmp(data, ELFMAG, SELFMAG) == 0) {
		build(data, size);
		symbolize(data, size);
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
	if (data[0] & AS_PYTHON) {
		recipe.extra_section = data[0] & AS_GO ? ".rodata" : ".PyRuntime";
		recipe.extra = data + 1;
		recipe.extra_size = size - 1;
	} else if (data[0] & AS_GO_TABLE) {
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
	if (file) {
		build(file, file_size);
		symbolize(file, file_size);
	}
	free(file);
	return 0;
}
