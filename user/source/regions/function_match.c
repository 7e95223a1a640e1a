// SPDX-License-Identifier: BSD-2-Clause
/* Matches patterns with symbols and with the starts that unwind information has. */
#include "source/regions/function_match.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/demangle.h"
#include "elf/elf_functions.h"
#include "elf/elf_symbol.h"
#include "source/regions/function_chosen.h"

#define MAX_STRING_BYTES (256U << 20)
#define NAME_BYTES	 512
#define COLD		 ".cold"
#define MARKERS		 "pkbpf_v1_"

struct matching {
	const struct elf_file *file;
	const struct function_pattern *pattern;
	const char *base; /* name of the file */
	struct elf_functions starts;
	bool has_symbols; /* of all functions */
	struct matched_functions *functions;
};

bool function_pattern_parse(char *text, struct function_pattern *ret_pattern)
{
	char *colon = strchr(text, ':'), *end;

	/* C++ has two. */
	while (colon && colon[1] == ':')
		colon = strchr(colon + 2, ':');
	*ret_pattern = (struct function_pattern){.glob = colon ? colon + 1 : text};
	if (colon) {
		*colon = '\0';
		ret_pattern->library = text;
	}
	if (strncmp(ret_pattern->glob, "0x", 2) == 0) {
		errno = 0;
		ret_pattern->address = strtoull(ret_pattern->glob, &end, 16);
		if (errno || *end || !ret_pattern->address)
			return false;
	}
	return *ret_pattern->glob && (!colon || *text);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool function_pattern_has_file(const struct function_pattern *pattern, const char *path)
{
	const char *name = base_name(path), *so = strstr(name, ".so");
	char shortened[NAME_BYTES];

	if (!pattern->library)
		return !so || (so[3] && so[3] != '.');
	if (fnmatch(pattern->library, name, 0) == 0)
		return true;
	snprintf(shortened, sizeof(shortened), "%.*s", so ? (int)(so - name) : 0, name);
	return so && fnmatch(pattern->library, shortened, 0) == 0;
}

static int add(struct matching *matching, uint64_t address, uint64_t size, const char *name)
{
	struct matched_function *item;
	uint64_t end;

	matching->functions->meant++;
	array_foreach(&matching->functions->items, known)
		if (known->address == address)
			return 0;
	if (!size) {
		end = elf_functions_end(&matching->starts, matching->file, address);
		size = end != UINT64_MAX && end > address ? end - address : 0;
	}
	item = array_add(&matching->functions->items);
	if (!item)
		return -ENOMEM;
	*item = (struct matched_function){address, size, strdup(name)};
	return item->name ? 0 : -ENOMEM;
}

/* Length of the name without what compilers add to copies and parts of a function, or linkers to
 * versions of it. */
static size_t length_of_name(const char *name)
{
	static const char *const suffixes[] = {".constprop.", ".isra.", ".part.",
					       ".lto_priv.",  ".llvm.", "@"};
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	return length;
}

bool function_pattern_means(const struct function_pattern *pattern, const char *name,
			    char *ret_name, size_t size)
{
	char plain[NAME_BYTES];

	snprintf(plain, sizeof(plain), "%.*s", (int)length_of_name(name), name);
	if (!demangle(plain, ret_name, size))
		snprintf(ret_name, size, "%s", plain);
	return fnmatch(pattern->glob, plain, 0) == 0 || fnmatch(pattern->glob, ret_name, 0) == 0 ||
	       fnmatch(pattern->glob, name, 0) == 0;
}

/* It is jumped to, and belongs to a function. */
static int add_cold(struct matched_functions *functions, const struct elf_symbol *symbol)
{
	struct cold_part *item = array_add(&functions->cold);

	if (!item)
		return -ENOMEM;
	*item = (struct cold_part){symbol->address, symbol->size};
	return 0;
}

static int take_symbol(struct matching *matching, const struct elf_symbol *symbol, const char *name)
{
	const struct function_pattern *pattern = matching->pattern;
	uint64_t address = symbol->address, size = symbol->size;
	char text[NAME_BYTES];

	if (symbol->section == SHN_UNDEF || !*name ||
	    (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC))
		return 0;
	/* The stubs of pkbpf.h are no functions of the program: it calls them while regions are
	 * looked at. */
	if (strncmp(name, MARKERS, sizeof(MARKERS) - 1) == 0)
		return 0;
	if (strstr(name, COLD))
		return add_cold(matching->functions, symbol);
	if (pattern->address ? symbol->address != pattern->address
			     : !function_pattern_means(pattern, name, text, sizeof(text)))
		return 0;
	if (pattern->address)
		function_pattern_means(pattern, name, text, sizeof(text));
	if (symbol->type == STT_GNU_IFUNC) {
		if (!function_chosen_find(matching->file, name, &address)) {
			matching->functions->chosen_later++;
			return 0;
		}
		size = 0; /* that of the function that chooses */
	}
	return add(matching, address, size, text);
}

static int take_table(struct matching *matching, uint32_t type)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	char name[NAME_BYTES];
	int err = 0;

	if (elf_symbol_reader_open(matching->file, type, &reader) < 0)
		return 0;
	if (elf_strings_load(&reader.strings, matching->file, MAX_STRING_BYTES) == 0)
		while (!err && elf_symbol_reader_next(&reader, &symbol))
			if (elf_strings_read(&reader.strings, matching->file, symbol.name, name,
					     sizeof(name)) == 0)
				err = take_symbol(matching, &symbol, name);
	elf_symbol_reader_close(&reader);
	return err;
}

/* Ways to functions of other files. */
static bool is_stub(const struct elf_file *file, uint64_t address)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".init", ".fini"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct elf_section *section = elf_file_find_section(file, names[i]);

		if (section && address - section->address < section->size)
			return true;
	}
	return false;
}

/* Functions without a symbol. */
static int take_starts(struct matching *matching)
{
	const struct function_pattern *pattern = matching->pattern;
	bool wants_all = strcmp(pattern->glob, "*") == 0 && !matching->has_symbols;
	char name[NAME_BYTES];
	int err = 0;

	if (!wants_all && !pattern->address)
		return 0;
	for (size_t i = 0; i < matching->starts.count && !err; i++) {
		uint64_t address = matching->starts.base +
				   (uint64_t)(int64_t)matching->starts.entries[i].start;

		if ((!wants_all && address != pattern->address) || is_stub(matching->file, address))
			continue;
		snprintf(name, sizeof(name), "[%s+0x%" PRIx64 "]", matching->base, address);
		err = add(matching, address, 0, name);
	}
	return err;
}

int function_match(const struct elf_file *file, const char *path,
		   const struct function_pattern *pattern, struct matched_functions *functions)
{
	struct matching matching = {
		.file = file,
		.pattern = pattern,
		.base = base_name(path),
		.has_symbols = elf_file_find_section_type(file, SHT_SYMTAB),
		.functions = functions,
	};
	int err;

	elf_functions_load(&matching.starts, file);
	err = take_table(&matching, SHT_SYMTAB);
	err = err ? err : take_table(&matching, SHT_DYNSYM);
	err = err ? err : take_starts(&matching);
	elf_functions_done(&matching.starts);
	return err;
}

void matched_functions_done(struct matched_functions *functions)
{
	array_foreach(&functions->items, each)
		free(each->name);
	array_free(&functions->items);
	array_free(&functions->cold);
}
