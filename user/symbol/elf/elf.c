// SPDX-License-Identifier: BSD-2-Clause
/* Names places in mapped ELF files, loading each file when its first address is asked for. */
#include "symbol/elf/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf/build_id.h"
#include "elf/demangle.h"
#include "symbol/elf/elf_module.h"
#include "symbol/elf/elf_notes.h"

/* How often a file that cannot be read is tried again, with each next question. */
#define MAX_TRIES 4

struct loaded_file {
	bool loaded;
	bool is_unopened; /* which the next process may change that has it mapped */
	struct elf_module module;
	const char *name;     /* base name, in the pool */
	const char *build_id; /* the same; NULL: none */
	void *vdso;
	size_t vdso_size;
	/* of the name found last; addresses mostly come in order */
	const struct symbol_entry *last_entry;
	const char *last_name;
	unsigned int tries;    /* after the first, that could not read it */
	bool may_be_on_server; /* its debug file, when that may be asked for */
	bool has_unresolved;   /* an address that only a full table could name */
};

struct elf_symbolizer {
	struct symbolizer symbolizer;
	const struct symbolizer_options *options;
	struct elf_files files;
	struct string_pool *strings;
	ARRAY_OF(struct loaded_file *) loaded; /* by mapped_file id */
	size_t debug_file_count;
	struct dwarf_budget dwarf_budget;
	struct symbol_line lines[DWARF_LINES_MAX_DEPTH];
	char name[ELF_SYMBOL_NAME_SIZE];
};

static int open_file(struct elf_symbolizer *elf, uint32_t id, const struct elf_place *place,
		     struct loaded_file *loaded, struct elf_file *ret_file)
{
	int fd, err;

	if (place->is_vdso) {
		err = elf->files.read_vdso(elf->files.context, id, &loaded->vdso,
					   &loaded->vdso_size);
		if (err)
			return err;
		return elf_file_open_memory(ret_file, loaded->vdso, loaded->vdso_size);
	}
	fd = elf->files.open(elf->files.context, id);
	return fd < 0 ? fd : elf_file_open(ret_file, fd);
}

static bool counts_as_debug_file(const struct loaded_file *loaded)
{
	return loaded->module.debug_fd >= 0 || loaded->module.dwarf;
}

static const char *read_build_id(struct elf_symbolizer *elf, const struct elf_file *file)
{
	char text[BUILD_ID_HEX_SIZE];
	struct build_id id;

	if (build_id_read(file, &id))
		return NULL;
	build_id_format(&id, text);
	return string_pool_get(elf->strings, string_pool_add(elf->strings, text));
}

static struct debug_file_search search_of(const struct elf_symbolizer *elf,
					  const struct elf_place *place)
{
	return (struct debug_file_search){
		.servers = elf->files.servers,
		.root = elf->options->root ? elf->options->root : "",
		.debug_dir = elf->options->debug_dir ? elf->options->debug_dir : "",
		.pid = place->pid,
		.path = place->path,
		.open = elf->files.open_debug,
		.context = elf->files.context,
	};
}

static void load_file(struct elf_symbolizer *elf, uint32_t id, const struct elf_place *place,
		      struct loaded_file *loaded)
{
	const char *slash = strrchr(place->path, '/');
	bool may_have_debug = elf->options->debug_dir && !place->is_vdso;
	struct elf_module_options options = {
		.search = search_of(elf, place),
		.want_dwarf = elf->options->inlines || elf->options->lines,
		.want_lines = elf->options->lines,
		.want_debug_file_dwarf = elf->options->lines,
		.dwarf_budget = &elf->dwarf_budget,
		.debuginfod = elf->options->debuginfod,
		.may_open_debug = may_have_debug && elf->debug_file_count < ELF_MAX_DEBUG_FILES,
		.is_at_debug_limit = may_have_debug && elf->debug_file_count >= ELF_MAX_DEBUG_FILES,
	};
	struct elf_file file;
	int err;

	loaded->loaded = true;
	loaded->module.debug_fd = -1;
	loaded->name = string_pool_get(
		elf->strings, string_pool_add(elf->strings, slash ? slash + 1 : place->path));
	err = open_file(elf, id, place, loaded, &file);
	if (err) {
		loaded->is_unopened =
			!place->is_vdso && symbol_result_of_error(err) != SYMBOL_READ_ERROR;
		loaded->module.state = symbol_result_of_error(err);
		return;
	}
	loaded->build_id = read_build_id(elf, &file);
	elf_module_load(&loaded->module, &file, &options);
	elf_file_done(&file);
	elf->debug_file_count += counts_as_debug_file(loaded);
	loaded->may_be_on_server = loaded->module.lacks_debug_file && elf->options->debuginfod &&
				   !debuginfod_is_allowed(elf->options->debuginfod);
}

/* What could not be read then, or not be asked for while events were recorded. */
static bool is_worth_another_try(const struct elf_symbolizer *elf, const struct loaded_file *loaded)
{
	return loaded->is_unopened ||
	       (loaded->module.state == SYMBOL_READ_ERROR && loaded->tries < MAX_TRIES) ||
	       (loaded->may_be_on_server && debuginfod_is_allowed(elf->options->debuginfod));
}

static void load_again(struct elf_symbolizer *elf, uint32_t id, const struct elf_place *place,
		       struct loaded_file *loaded)
{
	elf->debug_file_count -= counts_as_debug_file(loaded);
	elf_module_done(&loaded->module);
	free(loaded->vdso);
	*loaded = (struct loaded_file){.has_unresolved = loaded->has_unresolved,
				       .tries = loaded->tries + !loaded->is_unopened};
	load_file(elf, id, place, loaded);
}

static struct loaded_file *get_loaded(struct elf_symbolizer *elf, uint32_t id)
{
	struct loaded_file *loaded;
	struct elf_place place;

	if (!elf->files.find(elf->files.context, id, &place))
		return NULL;
	while (elf->loaded.count <= id)
		if (!array_add(&elf->loaded))
			return NULL;
	loaded = elf->loaded.items[id];
	if (!loaded)
		loaded = elf->loaded.items[id] = calloc(1, sizeof(*loaded));
	if (loaded && !loaded->loaded)
		load_file(elf, id, &place, loaded);
	else if (loaded && is_worth_another_try(elf, loaded))
		load_again(elf, id, &place, loaded);
	return loaded;
}

/* The name from the symbol tables; NULL with *ret_result when there is none. */
static const char *find_name(struct elf_symbolizer *elf, uint32_t id, struct loaded_file *loaded,
			     uint64_t address, enum symbol_result *ret_result)
{
	int fd = -1, err;

	if (loaded->last_name && elf_module_locate(&loaded->module, address) == loaded->last_entry)
		return loaded->last_name;
	if (!loaded->vdso) {
		/* The table keeps the descriptor; this fails only when it had to close it. */
		fd = elf->files.open(elf->files.context, id);
		if (fd < 0) {
			*ret_result = symbol_result_of_error(fd);
			return NULL;
		}
	}
	err = elf_module_find(&loaded->module, fd, loaded->vdso, address, elf->name,
			      &loaded->last_entry);
	loaded->last_name = NULL;
	if (!err) {
		const char *name = demangle_name(elf->strings, elf->name);

		if (loaded->last_entry)
			loaded->last_name = name;
		return name;
	}
	*ret_result = err == -ENOENT ? loaded->module.without_symbol : symbol_result_of_error(err);
	return NULL;
}

static bool begins_by_return(struct elf_symbolizer *elf, uint32_t id, struct loaded_file *loaded,
			     uint64_t return_address)
{
	int fd = loaded->vdso ? -1 : elf->files.open(elf->files.context, id);

	return (fd >= 0 || loaded->vdso) &&
	       elf_module_begins_by_return(&loaded->module, fd, loaded->vdso, return_address);
}

/* back: how far before the return address that is; 0: it is none. */
static void name_address(struct elf_symbolizer *elf, uint32_t id, struct loaded_file *loaded,
			 uint64_t address, uint64_t back, struct symbol *symbol)
{
	const char *name = find_name(elf, id, loaded, address, &symbol->result);
	size_t count = 0;

	/* The return address is a function's first where it was put on a stack for another to
	 * return to (glibc's makecontext()), and the padding before it has no name. */
	if (!name && back && begins_by_return(elf, id, loaded, address + back))
		name = find_name(elf, id, loaded, address + back, &symbol->result);
	if (loaded->module.dwarf) {
		struct dwarf_query query = {
			.address = address,
			.inlines = elf->options->inlines,
			.lines = elf->options->lines,
			.function = name,
		};

		count = dwarf_lines_find(loaded->module.dwarf, &query, elf->strings, elf->lines);
	}
	if (count == 0 && name) {
		elf->lines[0] = (struct symbol_line){.function = name};
		count = 1;
	}
	if (count == 0)
		return;
	symbol->result = SYMBOL_FOUND;
	symbol->lines = elf->lines;
	symbol->line_count = count;
}

/* A function without a name is still one function: its start stands for all addresses in it. */
static uint64_t function_start(struct elf_symbolizer *elf, uint32_t id, struct loaded_file *loaded,
			       uint64_t address)
{
	int fd = loaded->vdso ? -1 : elf->files.open(elf->files.context, id);
	uint64_t start;

	if (fd < 0 && !loaded->vdso)
		return 0;
	return elf_module_function_start(&loaded->module, fd, loaded->vdso, address, &start) == 0
		       ? start
		       : 0;
}

static bool elf_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			struct symbol *ret_symbol)
{
	struct elf_symbolizer *elf = (struct elf_symbolizer *)symbolizer;
	/* Looked up before the segments: a call that never returns may be the last instruction of
	 * one. */
	uint64_t back = location->is_return_address ? 1 : 0;
	struct loaded_file *loaded;
	uint64_t address;

	if (location->space != FRAME_FILE)
		return false;
	*ret_symbol = (struct symbol){
		.result = SYMBOL_NO_FILE,
		.module_address = location->address,
	};
	loaded = get_loaded(elf, location->object);
	if (!loaded)
		return true;
	ret_symbol->module = loaded->name;
	ret_symbol->build_id = loaded->build_id;
	ret_symbol->result = loaded->module.state;
	/* Even in a file without any symbol the address as linked is what tools understand. */
	if (!elf_segments_address(&loaded->module.file.segments, location->address - back,
				  &address)) {
		if (ret_symbol->result == SYMBOL_FOUND)
			ret_symbol->result = SYMBOL_NOT_IN_TABLE;
		return true;
	}
	ret_symbol->module_address = address + back;
	if (ret_symbol->result == SYMBOL_FOUND)
		name_address(elf, location->object, loaded, address, back, ret_symbol);
	loaded->has_unresolved |= ret_symbol->result == SYMBOL_STRIPPED;
	if (ret_symbol->result != SYMBOL_FOUND)
		ret_symbol->function_address =
			function_start(elf, location->object, loaded, address);
	return true;
}

static void free_loaded(struct loaded_file *loaded)
{
	if (!loaded)
		return;
	elf_module_done(&loaded->module);
	free(loaded->vdso);
	free(loaded);
}

static void elf_forget_files(struct symbolizer *symbolizer, const bool *is_used, size_t count)
{
	struct elf_symbolizer *elf = (struct elf_symbolizer *)symbolizer;

	for (size_t id = 0; id < elf->loaded.count && id < count; id++) {
		struct loaded_file *loaded = elf->loaded.items[id];

		if (!loaded || is_used[id])
			continue;
		elf->debug_file_count -= counts_as_debug_file(loaded);
		free_loaded(loaded);
		elf->loaded.items[id] = NULL;
	}
}

static void elf_tell(struct symbolizer *symbolizer, struct symbol_notes *notes)
{
	struct elf_symbolizer *elf = (struct elf_symbolizer *)symbolizer;

	if (elf->options->debuginfod)
		debuginfod_tell(elf->options->debuginfod, notes);
	for (size_t id = 0; id < elf->loaded.count; id++) {
		struct loaded_file *loaded = elf->loaded.items[id];
		struct elf_place place;
		struct debug_file_search search;

		if (!loaded || !elf->files.find(elf->files.context, (uint32_t)id, &place))
			continue;
		elf_notes_missing(notes, place.path,
				  elf_symbolizer_missing(symbolizer, (uint32_t)id));
		search = search_of(elf, &place);
		if (loaded->has_unresolved)
			elf_notes_unresolved(notes, loaded->name, &search,
					     elf->options->debuginfod);
	}
}

const char *elf_symbolizer_missing(struct symbolizer *symbolizer, uint32_t id)
{
	struct elf_symbolizer *elf = (struct elf_symbolizer *)symbolizer;
	struct loaded_file *loaded = id < elf->loaded.count ? elf->loaded.items[id] : NULL;

	return loaded && loaded->module.dwarf ? dwarf_lines_missing(loaded->module.dwarf) : NULL;
}

static void elf_free(struct symbolizer *symbolizer)
{
	struct elf_symbolizer *elf = (struct elf_symbolizer *)symbolizer;

	if (!elf)
		return;
	array_foreach(&elf->loaded, each)
		free_loaded(*each);
	array_free(&elf->loaded);
	free(elf);
}

static const struct symbolizer_ops elf_ops = {
	.name = "elf",
	.resolve = elf_resolve,
	.forget_files = elf_forget_files,
	.tell = elf_tell,
	.free = elf_free,
};

struct symbolizer *elf_symbolizer_new(const struct symbolizer_options *options,
				      const struct elf_files *files, struct string_pool *strings)
{
	struct elf_symbolizer *elf = calloc(1, sizeof(*elf));

	if (!elf)
		return NULL;
	elf->symbolizer.ops = &elf_ops;
	elf->options = options;
	elf->files = *files;
	elf->strings = strings;
	elf->dwarf_budget = DWARF_BUDGET_FULL;
	return &elf->symbolizer;
}
