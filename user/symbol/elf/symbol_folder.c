// SPDX-License-Identifier: BSD-2-Clause
/* Knows the files below a folder by build id, and loads one when its first address is asked for. */
#include "symbol/elf/symbol_folder.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"
#include "elf/demangle.h"
#include "symbol/elf/elf_module.h"

/* Folders in folders; links to folders are not followed. */
#define MAX_DEPTH 32

struct known_file {
	char *path;
	uint64_t hash;	/* of its build id */
	bool has_table; /* a full symbol table */
};

struct asked_module {
	struct elf_module module;
	bool is_loaded; /* a file was found */
	int fd;
	const char *name; /* in the pool */
};

struct symbol_folder {
	const char *path;
	bool with_lines;
	ARRAY_OF(struct known_file) files; /* by hash, those with a table first */
	ARRAY_OF(struct asked_module) modules;
	struct hash_map module_of; /* hash of build id -> place in modules */
	struct string_pool *strings;
	struct dwarf_budget dwarf_budget;
	size_t seen;
	bool is_cut;
	char name[ELF_SYMBOL_NAME_SIZE];
	struct symbol_line lines[DWARF_LINES_MAX_DEPTH];
};

/* Ids are compared again when a file is opened. */
static uint64_t hash_of(const char *hex)
{
	return hash_bytes(hex, strlen(hex), 0);
}

/* ---- looking through it ---- */

static int note_file(struct symbol_folder *folder, int fd, const char *path)
{
	char hex[BUILD_ID_HEX_SIZE];
	struct build_id id;
	struct elf_file file;
	struct known_file *known;
	bool has_table;
	int err;

	if (elf_file_open(&file, fd))
		return 0;
	err = build_id_read(&file, &id);
	has_table = elf_file_find_section_type(&file, SHT_SYMTAB);
	elf_file_done(&file);
	if (err)
		return 0;
	known = array_add(&folder->files);
	if (!known)
		return -ENOMEM;
	build_id_format(&id, hex);
	*known = (struct known_file){strdup(path), hash_of(hex), has_table};
	return known->path ? 0 : -ENOMEM;
}

static int look_through(struct symbol_folder *folder, int fd, const char *path, int depth);

/* Other files than regular ones may not be opened: a FIFO would wait. */
static int look_at(struct symbol_folder *folder, int parent, const char *name, const char *path,
		   int depth)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (S_ISLNK(st.st_mode) && (fstatat(parent, name, &st, 0) || !S_ISREG(st.st_mode)))
		return 0;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return 0;
	if (folder->seen++ == SYMBOL_FOLDER_MAX_FILES)
		folder->is_cut = true;
	if (folder->is_cut)
		return 0;
	fd = openat(parent, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (S_ISREG(st.st_mode))
		return note_file(folder, fd, path);
	return depth < MAX_DEPTH ? look_through(folder, take_fd(fd), path, depth + 1) : 0;
}

/* Closes fd. */
static int look_through(struct symbol_folder *folder, int fd, const char *path, int depth)
{
	DIR *entries = fdopendir(fd);
	const struct dirent *entry;
	int err = 0;

	if (!entries) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && !folder->is_cut && (entry = readdir(entries))) {
		_cleanup_free_ char *below = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (asprintf(&below, "%s/%s", path, entry->d_name) < 0)
			err = -ENOMEM;
		else
			err = look_at(folder, dirfd(entries), entry->d_name, below, depth);
	}
	closedir(entries);
	return err;
}

static int compare_files(const void *left, const void *right)
{
	const struct known_file *a = left, *b = right;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	if (a->has_table != b->has_table)
		return a->has_table ? -1 : 1;
	return strcmp(a->path, b->path);
}

int symbol_folder_open(const char *path, bool with_lines, struct symbol_folder **ret_folder,
		       struct error *error)
{
	struct symbol_folder *folder;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);

	if (fd < 0)
		return error_set(error, errno, "cannot look for symbols in %s: %s", path,
				 strerror(errno));
	folder = calloc(1, sizeof(*folder));
	if (!folder) {
		close(fd);
		return error_set(error, ENOMEM, "cannot look for symbols in %s: out of memory",
				 path);
	}
	folder->path = path;
	folder->with_lines = with_lines;
	folder->dwarf_budget = DWARF_BUDGET_FULL;
	folder->strings = string_pool_new();
	if (look_through(folder, fd, path, 0) || !folder->strings) {
		symbol_folder_free(folder);
		return error_set(error, ENOMEM, "cannot look for symbols in %s: out of memory",
				 path);
	}
	if (folder->files.count)
		qsort(folder->files.items, folder->files.count, sizeof(*folder->files.items),
		      compare_files);
	*ret_folder = folder;
	return 0;
}

void symbol_folder_free(struct symbol_folder *folder)
{
	if (!folder)
		return;
	array_foreach(&folder->files, file)
		free(file->path);
	array_free(&folder->files);
	array_foreach(&folder->modules, module) {
		if (!module->is_loaded)
			continue;
		elf_module_done(&module->module);
		close(module->fd);
	}
	array_free(&folder->modules);
	hash_map_done(&folder->module_of);
	string_pool_free(folder->strings);
	free(folder);
}

/* ---- names ---- */

static bool has_id(const struct elf_file *file, const char *hex)
{
	char text[BUILD_ID_HEX_SIZE];
	struct build_id id;

	if (build_id_read(file, &id))
		return false;
	build_id_format(&id, text);
	return strcmp(text, hex) == 0;
}

static bool load(struct symbol_folder *folder, const struct known_file *known, const char *hex,
		 struct asked_module *module)
{
	const struct elf_module_options options = {
		.search = {.root = "", .debug_dir = folder->path, .path = known->path},
		.want_dwarf = true,
		.want_lines = folder->with_lines,
		.want_debug_file_dwarf = true,
		.dwarf_budget = &folder->dwarf_budget,
		.may_open_debug = true,
	};
	_cleanup_close_ int fd = open(known->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_file file;

	if (fd < 0 || elf_file_open(&file, fd))
		return false;
	if (has_id(&file, hex)) {
		elf_module_load(&module->module, &file, &options);
		module->is_loaded = module->module.state == SYMBOL_FOUND;
		if (!module->is_loaded)
			elf_module_done(&module->module);
	}
	elf_file_done(&file);
	if (module->is_loaded)
		module->fd = take_fd(fd);
	return module->is_loaded;
}

static void find_file(struct symbol_folder *folder, const char *hex, struct asked_module *module)
{
	uint64_t hash = hash_of(hex);

	array_foreach(&folder->files, known) {
		if (known->hash == hash && load(folder, known, hex, module))
			return;
	}
}

/* NULL: no file, or out of memory. */
static struct asked_module *module_of(struct symbol_folder *folder, const struct symbol *symbol)
{
	struct asked_module *module;
	const uint64_t *place;
	bool added;

	if (!array_reserve(&folder->modules, folder->modules.count + 1))
		return NULL;
	place = hash_map_get(&folder->module_of, hash_of(symbol->build_id), folder->modules.count,
			     &added);
	if (!place)
		return NULL;
	if (added) {
		module = array_add(&folder->modules);
		module->name = string_pool_get(
			folder->strings,
			string_pool_add(folder->strings, symbol->module ? symbol->module : ""));
		find_file(folder, symbol->build_id, module);
	}
	module = &folder->modules.items[*place];
	return module->is_loaded ? module : NULL;
}

/* The name from symbol tables; NULL: none. */
static const char *find_name(struct symbol_folder *folder, const struct asked_module *module,
			     uint64_t address)
{
	const struct symbol_entry *entry;

	if (elf_module_find(&module->module, module->fd, NULL, address, folder->name, &entry))
		return NULL;
	return demangle_name(folder->strings, folder->name);
}

static size_t find_lines(struct symbol_folder *folder, struct asked_module *module,
			 uint64_t address, const char *name)
{
	const struct dwarf_query query = {
		.address = address,
		.inlines = true,
		.lines = folder->with_lines,
		.function = name,
	};
	size_t count = 0;

	if (module->module.dwarf)
		count = dwarf_lines_find(module->module.dwarf, &query, folder->strings,
					 folder->lines);
	if (count || !name)
		return count;
	folder->lines[0] = (struct symbol_line){.function = name};
	return 1;
}

bool symbol_folder_name(struct symbol_folder *folder, bool is_return_address, struct symbol *symbol)
{
	struct asked_module *module;
	const char *name;
	uint64_t address = symbol->module_address - (is_return_address ? 1 : 0);

	if (symbol->result == SYMBOL_FOUND || !symbol->build_id || !symbol->module_address)
		return false;
	module = module_of(folder, symbol);
	if (!module)
		return false;
	name = find_name(folder, module, address);
	/* As when names are read at once: some return addresses begin a function. */
	if (!name && is_return_address &&
	    elf_module_begins_by_return(&module->module, module->fd, NULL, address + 1))
		name = find_name(folder, module, address + 1);
	symbol->line_count = find_lines(folder, module, address, name);
	if (!symbol->line_count)
		return false;
	symbol->lines = folder->lines;
	symbol->result = SYMBOL_FOUND;
	symbol->function_address = 0;
	return true;
}

struct symbol_folder_notes symbol_folder_notes(const struct symbol_folder *folder)
{
	struct symbol_folder_notes notes = {.asked = folder->modules.count,
					    .is_cut = folder->is_cut};

	array_foreach(&folder->modules, module) {
		notes.found += module->is_loaded;
		if (!module->is_loaded)
			notes.missing = module->name;
	}
	return notes;
}
