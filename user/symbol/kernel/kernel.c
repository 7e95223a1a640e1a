// SPDX-License-Identifier: BSD-2-Clause
/* Names kernel addresses: asks the kernel, or looks into what it lists. */
#include "symbol/kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "elf/demangle.h"
#include "symbol/kernel/kernel_symbols.h"

#define BPF_TAG_DIGITS 16
#define KNOWN_NS       NS_PER_SECOND

static size_t count_digits(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/*
 * What the kernel compiled at run time, it lists under this module's name in kallsyms, but not in
 * what it prints: bpf_prog_TAG or bpf_prog_TAG_NAME, bpf_trampoline_NUMBER, and the one dispatcher.
 * bpf_prog_add, bpf_dispatcher_xdp_func and their like are functions of the kernel.
 */
static bool is_bpf_image(const char *name)
{
	const char *tag = strncmp(name, "bpf_prog_", 9) == 0 ? name + 9 : "";
	const char *number = strncmp(name, "bpf_trampoline_", 15) == 0 ? name + 15 : "";

	if (count_digits(tag) == BPF_TAG_DIGITS)
		return !tag[BPF_TAG_DIGITS] || tag[BPF_TAG_DIGITS] == '_';
	return (*number && !number[count_digits(number)]) ||
	       strcmp(name, "bpf_dispatcher_xdp") == 0;
}

bool kernel_text_parse(char *text, const char **ret_name, const char **ret_module)
{
	char *offset = strstr(text, "+0x");
	char *module = offset ? strstr(offset, " [") : NULL;
	char *end = module ? strchr(module, ']') : NULL;

	*ret_module = NULL;
	if (!offset || offset == text)
		return false;
	if (end && end > module + 2) {
		*end = '\0';
		*ret_module = module + 2;
	}
	*offset = '\0';
	*ret_name = strncmp(text, KERNEL_PADDING_PREFIX, KERNEL_PADDING_PREFIX_SIZE) == 0
			    ? text + KERNEL_PADDING_PREFIX_SIZE
			    : text;
	if (!*ret_module && is_bpf_image(*ret_name))
		*ret_module = "bpf";
	return **ret_name != '\0';
}

bool kernel_text_range(const char *text, uint64_t address, uint64_t *ret_start, uint64_t *ret_size)
{
	const char *at = strstr(text, "+0x");
	unsigned long long offset, size;

	if (!at || sscanf(at, "+0x%llx/0x%llx", &offset, &size) != 2 || offset > address ||
	    offset >= size)
		return false;
	*ret_start = address - offset;
	*ret_size = size;
	return true;
}

/* The kernel's last answer, good for all of the function, and for as long as a module or BPF
 * program is hardly replaced by another one at its place. */
struct known_function {
	uint64_t start, size; /* size 0: none */
	const char *name, *module;
	uint64_t asked_ns;
};

struct kernel_symbolizer {
	struct symbolizer symbolizer;
	struct kernel_namer namer;
	struct known_function last;
	char *path;
	struct string_pool *strings;
	struct kernel_symbols symbols;
	bool loaded;
	int err; /* of reading them */
	struct symbol_line line;
};

static const char *keep(struct string_pool *strings, const char *text)
{
	return string_pool_get(strings, string_pool_add(strings, text));
}

/* The answer of a kernel that can be asked. false: this one cannot. */
static bool ask_kernel(struct kernel_symbolizer *kernel, uint64_t address,
		       struct symbol *ret_symbol)
{
	struct known_function *last = &kernel->last;
	char text[KERNEL_MAX_NAME_BYTES + 128];
	const char *name, *module;

	if (address - last->start < last->size && clock_now_ns() - last->asked_ns < KNOWN_NS) {
		ret_symbol->module = last->module;
		kernel->line.function = last->name;
		ret_symbol->result = SYMBOL_FOUND;
		return true;
	}
	if (!kernel->namer.name ||
	    !kernel->namer.name(kernel->namer.context, address, text, sizeof(text)))
		return false;
	last->asked_ns = clock_now_ns();
	if (!kernel_text_range(text, address, &last->start, &last->size))
		last->size = 0;
	if (!kernel_text_parse(text, &name, &module)) {
		last->size = 0;
		ret_symbol->result = SYMBOL_NOT_IN_TABLE;
		return true;
	}
	if (module)
		ret_symbol->module = keep(kernel->strings, module);
	kernel->line.function = keep(kernel->strings, demangle_name(kernel->strings, name));
	last->name = kernel->line.function;
	last->module = ret_symbol->module;
	ret_symbol->result = SYMBOL_FOUND;
	return true;
}

static void look_up(struct kernel_symbolizer *kernel, uint64_t address, struct symbol *ret_symbol)
{
	const char *module = NULL, *name;

	if (!kernel->loaded) {
		kernel->loaded = true;
		kernel->err = kernel_symbols_read(&kernel->symbols, kernel->path);
	}
	if (kernel->err) {
		ret_symbol->result = symbol_result_of_error(kernel->err);
		return;
	}
	if (kernel->symbols.table.count == 0) {
		ret_symbol->result = SYMBOL_NO_KALLSYMS;
		return;
	}
	name = kernel_symbols_find(&kernel->symbols, address, &module);
	if (!name) {
		ret_symbol->result = SYMBOL_NOT_IN_TABLE;
		return;
	}
	if (module)
		ret_symbol->module = module;
	kernel->line.function = demangle_name(kernel->strings, name);
	ret_symbol->result = SYMBOL_FOUND;
}

static bool kernel_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			   struct symbol *ret_symbol)
{
	struct kernel_symbolizer *kernel = (struct kernel_symbolizer *)symbolizer;
	uint64_t address = location->address - (location->is_return_address ? 1 : 0);

	if (location->space != FRAME_KERNEL)
		return false;
	/* An address would tell whoever gets the file where the kernel lies. */
	*ret_symbol = (struct symbol){.flags = SYMBOL_IS_KERNEL, .module = "kernel"};
	kernel->line = (struct symbol_line){0};
	if (!ask_kernel(kernel, address, ret_symbol))
		look_up(kernel, address, ret_symbol);
	if (ret_symbol->result == SYMBOL_FOUND) {
		ret_symbol->lines = &kernel->line;
		ret_symbol->line_count = 1;
	}
	return true;
}

static void kernel_free(struct symbolizer *symbolizer)
{
	struct kernel_symbolizer *kernel = (struct kernel_symbolizer *)symbolizer;

	if (!kernel)
		return;
	kernel_symbols_done(&kernel->symbols);
	free(kernel->path);
	free(kernel);
}

static const struct symbolizer_ops kernel_ops = {
	.name = "kernel",
	.resolve = kernel_resolve,
	.free = kernel_free,
};

struct symbolizer *kernel_symbolizer_new(const char *kallsyms_path,
					 const struct kernel_namer *namer,
					 struct string_pool *strings)
{
	struct kernel_symbolizer *kernel = calloc(1, sizeof(*kernel));

	if (!kernel)
		return NULL;
	kernel->symbolizer.ops = &kernel_ops;
	kernel->strings = strings;
	if (namer)
		kernel->namer = *namer;
	kernel->path = strdup(kallsyms_path);
	if (!kernel->path) {
		free(kernel);
		return NULL;
	}
	return &kernel->symbolizer;
}
