// SPDX-License-Identifier: BSD-2-Clause
/* Reads /proc/kallsyms, fast and into little memory. */
#include "symbol/kernel/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

/* The kernel hands out a page per read whatever we ask for. */
/* Of all names together. */
#define MAX_NAME_BYTES (256U << 20)
#define READ_BYTES     (64U << 10)
/* Ten times what a kernel with every driver built in prints. */
#define MAX_KALLSYMS_BYTES (256ULL << 20)
/* The last function of a module or program has no successor to end it; far beyond it nothing is its
 * own. */
#define MAX_MODULE_FUNCTION_BYTES (64U << 10)
/* A BPF program of a hundred thousand instructions; nothing else shares its image. */
#define MAX_BPF_PROGRAM_BYTES (1U << 20)
/* Functions start at most this far behind their patchable padding. */
#define MAX_PADDING_BYTES 64

struct line {
	uint64_t address;
	char type;
	const char *name;
	size_t name_size;
	const char *module; /* NULL: the kernel image */
	size_t module_size;
};

/* Value of a hex digit + 1; 0: none. Two million digits make a table worth it. */
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* "ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]" without its newline. */
static bool parse_line(const char *at, const char *end, struct line *ret)
{
	const char *start = at, *tab;
	uint64_t address = 0;
	uint8_t digit;

	while (at < end && (digit = hex_digits[(unsigned char)*at]) != 0) {
		address = address << 4 | (digit - 1U);
		at++;
	}
	if (at == start || at - start > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	ret->address = address;
	ret->type = at[1];
	ret->name = at + 3;
	tab = memchr(ret->name, '\t', (size_t)(end - ret->name));
	ret->name_size = (size_t)((tab ? tab : end) - ret->name);
	ret->module = NULL;
	ret->module_size = 0;
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		ret->module = tab + 2;
		ret->module_size = (size_t)(end - 1 - ret->module);
	}
	return ret->name_size > 0 && ret->name_size < KERNEL_MAX_NAME_BYTES;
}

static bool name_is(const struct line *line, const char *name)
{
	size_t size = strlen(name);

	return line->name_size == size && memcmp(line->name, name, size) == 0;
}

static bool name_ends(const struct line *line, const char *suffix)
{
	size_t size = strlen(suffix);

	return line->name_size >= size &&
	       memcmp(line->name + line->name_size - size, suffix, size) == 0;
}

/* Linker script labels say where sections begin and end; functions at the same place run. */
static bool is_section_marker(const struct line *line)
{
	char last = line->name[line->name_size - 1];

	if (last != 't' && last != 'd')
		return false;
	return name_ends(line, "text") || name_ends(line, "_text_start") ||
	       name_ends(line, "_text_end");
}

static void note_edge(struct kernel_symbols *symbols, const struct line *line)
{
	if (line->module || line->name_size < 5 || line->name[0] != '_' ||
	    line->name[line->name_size - 1] != 't')
		return;
	if (name_is(line, "_stext"))
		symbols->text_start = line->address;
	else if (name_is(line, "_etext"))
		symbols->text_end = line->address;
	else if (name_is(line, "_sinittext"))
		symbols->init_start = line->address;
	else if (name_is(line, "_einittext"))
		symbols->init_end = line->address;
}

/* Index of the module; symbols of one module follow each other: only the last is compared. */
static int module_index(struct kernel_symbols *symbols, const struct line *line,
			uint16_t *ret_index)
{
	char **slot;

	if (!line->module) {
		*ret_index = 0;
		return 0;
	}
	if (symbols->module_count > 1) {
		const char *last = symbols->modules[symbols->module_count - 1];

		if (strlen(last) == line->module_size &&
		    memcmp(last, line->module, line->module_size) == 0) {
			*ret_index = (uint16_t)(symbols->module_count - 1);
			return 0;
		}
	}
	if (symbols->module_count >= KERNEL_MAX_MODULES)
		return -ENOSPC;
	if (!array_reserve_items((void **)&symbols->modules, &symbols->module_capacity,
				 symbols->module_count + 2, sizeof(*symbols->modules)))
		return -ENOMEM;
	if (symbols->module_count == 0)
		symbols->modules[symbols->module_count++] = NULL;
	slot = &symbols->modules[symbols->module_count];
	*slot = strndup(line->module, line->module_size);
	if (!*slot)
		return -ENOMEM;
	*ret_index = (uint16_t)symbols->module_count++;
	return 0;
}

/* Two bytes of module index, the name, a NUL. */
static int store_name(struct kernel_symbols *symbols, const char *name, size_t size,
		      uint16_t module, uint32_t *ret_offset)
{
	size_t needed = symbols->names_size + sizeof(module) + size + 1;
	char *at;

	if (needed > MAX_NAME_BYTES)
		return -ENOSPC;
	if (needed > symbols->names_capacity &&
	    !array_reserve_items((void **)&symbols->names, &symbols->names_capacity, needed, 1))
		return -ENOMEM;
	at = symbols->names + symbols->names_size;
	memcpy(at, &module, sizeof(module));
	at += sizeof(module);
	memcpy(at, name, size);
	at[size] = '\0';
	*ret_offset = (uint32_t)(at - symbols->names);
	symbols->names_size = needed;
	return 0;
}

static int add_line(struct kernel_symbols *symbols, const struct line *line)
{
	const char *name = line->name;
	size_t name_size = line->name_size;
	enum symbol_rank rank =
		line->type == 'T' || line->type == 'W' ? SYMBOL_RANK_EXPORTED : SYMBOL_RANK_LOCAL;
	bool is_padding = name_size > KERNEL_PADDING_PREFIX_SIZE &&
			  memcmp(name, KERNEL_PADDING_PREFIX, KERNEL_PADDING_PREFIX_SIZE) == 0;
	uint16_t module;
	uint32_t offset;
	int err;

	if (is_section_marker(line))
		rank = SYMBOL_RANK_LABEL;
	/*
	 * Kernels built with padding in front of functions list it as a symbol of its own. What
	 * runs there (call depth accounting) belongs to the function, so both become one symbol
	 * under the function's name.
	 */
	if (symbols->after_padding) {
		struct symbol_entry *last = &symbols->table.entries[symbols->table.count - 1];
		const char *last_name = symbols->names + last->name;

		symbols->after_padding = false;
		if (line->address - last->address <= MAX_PADDING_BYTES &&
		    strlen(last_name) == name_size && memcmp(last_name, name, name_size) == 0) {
			last->rank = rank & 3;
			return 0;
		}
	}
	if (is_padding) {
		name += KERNEL_PADDING_PREFIX_SIZE;
		name_size -= KERNEL_PADDING_PREFIX_SIZE;
	}
	err = module_index(symbols, line, &module);
	if (!err)
		err = store_name(symbols, name, name_size, module, &offset);
	if (!err)
		err = symbol_table_add(&symbols->table, line->address, 0, offset, rank);
	if (err)
		return err;
	symbols->after_padding = is_padding;
	if (module != 0) {
		if (symbols->lowest_module == 0 || line->address < symbols->lowest_module)
			symbols->lowest_module = line->address;
		if (line->address > symbols->highest_module)
			symbols->highest_module = line->address;
	}
	return 0;
}

int kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;
		struct line line;

		if (parse_line(text, line_end, &line) && line.address != 0) {
			symbols->lines++;
			note_edge(symbols, &line);
			/* Only code: text (t T) and weak symbols (w W); of those some are data,
			 * without harm. */
			if ((line.type | 0x20) == 't' || (line.type | 0x20) == 'w') {
				int err = add_line(symbols, &line);

				if (err)
					return err;
			}
		}
		text = line_end + 1;
	}
	return 0;
}

static const char *entry_module(const struct kernel_symbols *symbols,
				const struct symbol_entry *entry)
{
	uint16_t module;

	memcpy(&module, symbols->names + entry->name - sizeof(module), sizeof(module));
	return module ? symbols->modules[module] : NULL;
}

int kernel_symbols_finish(struct kernel_symbols *symbols)
{
	struct symbol_range ranges[3];
	size_t range_count = 0;
	bool edges_known;
	char *smaller;
	int err;

	if (symbols->text_start < symbols->text_end)
		ranges[range_count++] =
			(struct symbol_range){symbols->text_start, symbols->text_end};
	if (symbols->init_start < symbols->init_end)
		ranges[range_count++] =
			(struct symbol_range){symbols->init_start, symbols->init_end};
	edges_known = range_count > 0;
	/* The modules' edges are unknown; the limits below end what has no successor. */
	ranges[range_count].start = edges_known ? symbols->lowest_module : 0;
	ranges[range_count++].end =
		edges_known ? symbols->highest_module + MAX_BPF_PROGRAM_BYTES : UINT64_MAX;
	err = symbol_table_finish(&symbols->table, ranges, range_count);
	if (err)
		return err;
	for (size_t i = 0; i < symbols->table.count; i++) {
		struct symbol_entry *entry = &symbols->table.entries[i];
		const char *module = entry_module(symbols, entry);
		uint32_t limit = MAX_MODULE_FUNCTION_BYTES;

		if (!module && edges_known)
			continue;
		if (module && strcmp(module, "bpf") == 0)
			limit = MAX_BPF_PROGRAM_BYTES;
		if (entry->size > limit)
			entry->size = limit;
	}
	smaller = realloc(symbols->names, symbols->names_size + 1);
	if (smaller) {
		symbols->names = smaller;
		symbols->names_capacity = symbols->names_size + 1;
	}
	return 0;
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				const char **ret_module)
{
	size_t aliases = 0;
	const struct symbol_entry *entry = symbol_table_find(&symbols->table, address, &aliases);
	const char *name;

	if (!entry)
		return NULL;
	name = symbols->names + entry->name;
	for (size_t i = 1; i < aliases; i++) {
		const char *other = symbols->names + entry[i].name;

		if (symbol_name_better(other, name))
			name = other;
	}
	*ret_module = entry_module(symbols, entry);
	return name;
}

void kernel_symbols_done(struct kernel_symbols *symbols)
{
	symbol_table_done(&symbols->table);
	for (size_t i = 0; i < symbols->module_count; i++)
		free(symbols->modules[i]);
	free(symbols->modules);
	free(symbols->names);
	*symbols = (struct kernel_symbols){0};
}

static int parse_file(struct kernel_symbols *symbols, int fd)
{
	_cleanup_free_ char *buffer = malloc(READ_BYTES);
	size_t used = 0;
	uint64_t total = 0;

	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, buffer + used, READ_BYTES - used);
		char *newline;
		size_t whole;
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return kernel_symbols_parse(symbols, buffer, used);
		total += (size_t)n;
		if (total > MAX_KALLSYMS_BYTES)
			return -EFBIG;
		used += (size_t)n;
		newline = memrchr(buffer, '\n', used);
		/* A line that fills the buffer is no symbol: drop it and go on behind it. */
		whole = newline ? (size_t)(newline + 1 - buffer) : used == READ_BYTES ? used : 0;
		err = newline ? kernel_symbols_parse(symbols, buffer, whole) : 0;
		if (err)
			return err;
		memmove(buffer, buffer + whole, used - whole);
		used -= whole;
	}
}

int kernel_symbols_read(struct kernel_symbols *symbols, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 ? -errno : parse_file(symbols, fd);

	if (!err)
		err = kernel_symbols_finish(symbols);
	if (err)
		kernel_symbols_done(symbols);
	return err;
}
