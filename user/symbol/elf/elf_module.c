// SPDX-License-Identifier: BSD-2-Clause
/* Decides which symbol tables speak for a mapped file, and asks them. */
#include "symbol/elf/elf_module.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/dwarf/dwarf_image.h"
#include "symbol/elf/elf_extent.h"
#include "symbol/elf/elf_plt.h"
#include "symbol/elf/go_symbols.h"
#include "elf/mini_debuginfo.h"

/* Exported symbols that are looked for in the full table. */
#define MAX_COMPARED_SYMBOLS 4096U

/* A table that is there and cannot be used is no missing one. */
static void note_refusal(struct elf_module *module, int err)
{
	if (err && err != -ENOENT && err != -ENODATA)
		module->without_symbol = symbol_result_of_error(err == -ENOEXEC ? -EBADMSG : err);
}

static bool add_source(struct elf_module *module, const struct elf_file *file, uint32_t type,
		       enum elf_source_place place)
{
	struct elf_source *source = &module->sources[module->source_count];
	int err;

	if (module->source_count == ELF_MODULE_MAX_SOURCES)
		return false;
	err = elf_symbols_read(file, type, &source->symbols);
	note_refusal(module, err);
	if (err)
		return false;
	if (source->symbols.is_cut)
		note_refusal(module, -ENOSPC);
	source->place = place;
	module->source_count++;
	return true;
}

/* Names of a Go program's functions, stripped or not. */
static void add_go_source(struct elf_module *module, const struct elf_file *file)
{
	struct elf_source *source = &module->sources[module->source_count];
	int err;

	if (module->source_count == ELF_MODULE_MAX_SOURCES)
		return;
	err = go_symbols_read(file, &source->symbols);
	note_refusal(module, err);
	if (err)
		return;
	source->place = ELF_SOURCE_FILE;
	module->source_count++;
}

/* Whether the symbol table has no more than some symbols that somebody wanted to keep (strip
 * --keep-symbol, language run-times): those that the file exports are missing in it. */
static bool is_reduced(const struct symbol_table *table, const struct elf_file *file)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	bool is_missing = false;
	size_t aliases;

	if (elf_symbol_reader_open(file, SHT_DYNSYM, &reader))
		return false;
	if (reader.count > MAX_COMPARED_SYMBOLS)
		reader.count = MAX_COMPARED_SYMBOLS;
	while (!is_missing && elf_symbol_reader_next(&reader, &symbol)) {
		const struct symbol_entry *entry;

		if (symbol.type != STT_FUNC || symbol.section == SHN_UNDEF || symbol.size == 0 ||
		    file->machine == EM_ARM)
			continue;
		entry = symbol_table_find(table, symbol.address, &aliases);
		is_missing = !entry || entry->address != symbol.address;
	}
	elf_symbol_reader_close(&reader);
	return is_missing;
}

static bool has_dwarf(const struct elf_file *file)
{
	return dwarf_source_find(file, DWARF_SECTION_INFO, "").size > 0;
}

/* On this machine, else of a server. */
static int open_debug_file(const struct elf_file *file, const struct elf_module_options *options)
{
	int fd = debug_file_open(&options->search, file);
	struct build_id id;

	if (fd >= 0 || !options->debuginfod || build_id_read(file, &id))
		return fd;
	return debuginfod_open(options->debuginfod, &id);
}

/* Returns whether the debug file has a full symbol table. */
static bool load_debug_file(struct elf_module *module, const struct elf_file *file,
			    const struct elf_module_options *options, bool need_symbols)
{
	_cleanup_close_ int fd = open_debug_file(file, options);
	struct elf_file debug;
	bool found = false, dwarf;
	int err;

	module->lacks_debug_file = fd < 0;
	err = fd < 0 ? -ENOENT : elf_file_open(&debug, fd);
	note_refusal(module, err);
	if (err)
		return false;
	if (need_symbols)
		found = add_source(module, &debug, SHT_SYMTAB, ELF_SOURCE_DEBUG);
	dwarf = options->want_debug_file_dwarf && has_dwarf(&debug);
	if (dwarf)
		module->dwarf = dwarf_lines_open(fd, &options->search, options->want_lines,
						 options->dwarf_budget);
	module->debug_size = debug.size;
	elf_file_done(&debug);
	if (found)
		module->debug_fd = take_fd(fd);
	return found;
}

static void load_mini_debuginfo(struct elf_module *module, const struct elf_file *file)
{
	struct elf_file mini;
	int err = mini_debuginfo_read(file, &module->mini_image, &module->mini_size);

	if (!err)
		err = elf_file_open_memory(&mini, module->mini_image, module->mini_size);
	note_refusal(module, err);
	if (err)
		return;
	add_source(module, &mini, SHT_SYMTAB, ELF_SOURCE_MINI);
	elf_file_done(&mini);
}

/* Names from the file's own tables, where the best one does not have all. */
static void add_other_sources(struct elf_module *module, const struct elf_file *file)
{
	size_t before = module->source_count;

	load_mini_debuginfo(module, file);
	add_go_source(module, file);
	if (module->source_count == before && module->without_symbol == SYMBOL_NOT_IN_TABLE)
		module->without_symbol = SYMBOL_STRIPPED;
	/* Without one, addresses in unresolved functions stay as they are. */
	elf_functions_load(&module->functions, file);
	add_source(module, file, SHT_DYNSYM, ELF_SOURCE_FILE);
	for (size_t i = 0; i < module->source_count; i++)
		if (module->sources[i].place == ELF_SOURCE_FILE)
			elf_extent_bound(&module->sources[i].symbols.table, &module->functions,
					 file);
}

static void note_stubs(struct elf_module *module, const struct elf_file *file)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];

		if (module->stub_count == ELF_MODULE_MAX_STUBS)
			return;
		if (section->type == SHT_PROGBITS && strncmp(section->name, ".plt", 4) == 0 &&
		    section->address + section->size > section->address)
			module->stubs[module->stub_count++] = (struct symbol_range){
				section->address, section->address + section->size};
	}
}

void elf_module_load(struct elf_module *module, struct elf_file *file,
		     const struct elf_module_options *options)
{
	bool full;

	*module = (struct elf_module){.debug_fd = -1, .without_symbol = SYMBOL_NOT_IN_TABLE};
	full = add_source(module, file, SHT_SYMTAB, ELF_SOURCE_FILE) &&
	       !is_reduced(&module->sources[0].symbols.table, file);
	if (options->want_dwarf && file->fd >= 0 && has_dwarf(file))
		module->dwarf = dwarf_lines_open(file->fd, &options->search, options->want_lines,
						 options->dwarf_budget);
	/* Unpacking the DWARF of a C library's debug package takes longer and more memory than all
	 * the rest of naming; who wants that much asks for lines. */
	if (options->may_open_debug &&
	    (!full || (options->want_debug_file_dwarf && !module->dwarf)))
		full = load_debug_file(module, file, options, !full) || full;
	else if (!full && options->is_at_debug_limit)
		module->without_symbol = SYMBOL_DEBUG_LIMIT;
	if (!full)
		add_other_sources(module, file);
	note_stubs(module, file);
	module->file = (struct elf_file){.fd = -1, .size = file->size, .segments = file->segments};
	file->segments = (struct elf_segments){0};
	module->state = module->source_count || module->stub_count || module->dwarf
				? SYMBOL_FOUND
				: module->without_symbol;
}

void elf_module_done(struct elf_module *module)
{
	for (size_t i = 0; i < module->source_count; i++)
		elf_symbols_done(&module->sources[i].symbols);
	elf_functions_done(&module->functions);
	elf_file_done(&module->file);
	free(module->mini_image);
	dwarf_lines_free(module->dwarf);
	if (module->debug_fd >= 0)
		close(module->debug_fd);
	*module = (struct elf_module){.debug_fd = -1};
}

/* The mapped file without its sections, read from one of the two. */
static struct elf_file own_file(const struct elf_module *module, int fd, const void *image)
{
	struct elf_file file = module->file;

	file.fd = fd;
	file.memory = image;
	return file;
}

/* What reading names needs of an open file. */
static struct elf_file source_file(const struct elf_module *module, const struct elf_source *source,
				   int fd, const void *image)
{
	switch (source->place) {
	case ELF_SOURCE_DEBUG:
		return (struct elf_file){.fd = module->debug_fd, .size = module->debug_size};
	case ELF_SOURCE_MINI:
		return elf_file_of_bytes(module->mini_image, module->mini_size);
	case ELF_SOURCE_FILE:
		break;
	}
	return own_file(module, fd, image);
}

static int find_stub(const struct elf_module *module, int fd, const void *image, uint64_t address,
		     char *name, size_t name_size)
{
	for (size_t i = 0; i < module->stub_count; i++) {
		struct elf_file file;
		int err;

		if (address < module->stubs[i].start || address >= module->stubs[i].end)
			continue;
		err = image ? elf_file_open_memory(&file, image, module->file.size)
			    : elf_file_open(&file, fd);
		if (err)
			return err;
		err = elf_plt_find(&file, address, name, name_size);
		elf_file_done(&file);
		return err;
	}
	return -ENOENT;
}

const struct symbol_entry *elf_module_locate(const struct elf_module *module, uint64_t address)
{
	const struct symbol_entry *best = NULL;

	for (size_t i = 0; i < module->source_count; i++) {
		size_t aliases;
		const struct symbol_entry *entry =
			symbol_table_find(&module->sources[i].symbols.table, address, &aliases);

		if (entry && (!best || entry->address > best->address))
			best = entry;
	}
	return best;
}

int elf_module_find(const struct elf_module *module, int fd, const void *image, uint64_t address,
		    char ret_name[ELF_SYMBOL_NAME_SIZE], const struct symbol_entry **ret_entry)
{
	uint64_t best_start = 0;
	bool found = false;
	int err = -ENOENT;

	*ret_entry = NULL;

	for (size_t i = 0; i < module->source_count; i++) {
		const struct elf_source *source = &module->sources[i];
		struct elf_file file = source_file(module, source, fd, image);
		size_t aliases;
		const struct symbol_entry *entry =
			symbol_table_find(&source->symbols.table, address, &aliases);
		uint64_t start;
		int result;

		/* Two tables of one file complete each other: the symbol that begins closest is the
		 * right one. */
		if (!entry || (found && entry->address <= best_start))
			continue;
		result = elf_symbols_find(&source->symbols, &file, address, ret_name,
					  ELF_SYMBOL_NAME_SIZE, &start);
		if (result) {
			err = result;
			continue;
		}
		best_start = start;
		found = true;
		*ret_entry = entry;
	}
	if (found)
		return 0;
	if (find_stub(module, fd, image, address, ret_name, ELF_SYMBOL_NAME_SIZE) == 0)
		return 0;
	return err;
}

bool elf_module_begins_by_return(struct elf_module *module, int fd, const void *image,
				 uint64_t return_address)
{
	struct elf_file file = own_file(module, fd, image);
	uint64_t before, start;

	if (!module->functions.count)
		elf_functions_load(&module->functions, &file);
	if (elf_functions_find(&module->functions, &file, return_address - 1, &before))
		return true;
	/* The description of a trampoline begins one byte early. */
	return elf_functions_find(&module->functions, &file, return_address, &start) == 0 &&
	       start == before;
}

int elf_module_function_start(struct elf_module *module, int fd, const void *image,
			      uint64_t address, uint64_t *ret_start)
{
	struct elf_file file = own_file(module, fd, image);

	return elf_functions_find(&module->functions, &file, address, ret_start);
}
