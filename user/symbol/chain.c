// SPDX-License-Identifier: BSD-2-Clause
/* Asks one symbolizer after the other. */
#include "symbol/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string_pool.h"
#include "symbol/elf/elf.h"
#include "symbol/elf/elf_proxy.h"
#include "pkbpf/unwind_state.h"
#include "symbol/kernel/kernel.h"
#include "symbol/jit/code_history.h"
#include "python/python_functions.h"
#include "symbol/python_symbolizer.h"
#include "symbol/symbol_notes.h"

enum chain_member {
	MEMBER_KERNEL,
	MEMBER_ELF,
	MEMBER_GENERATED_CODE,
	MEMBER_PYTHON,
	MEMBER_COUNT,
};

/* About 30 MB. */
#define ELF_STRINGS_MAX (1U << 18)

struct chain {
	struct symbolizer symbolizer;
	struct symbolizer_options options; /* with strings of our own */
	char *kallsyms_path, *root, *debug_dir;
	struct mapped_file_table *files;
	struct string_pool *strings, *elf_strings;
	size_t elf_strings_max;
	struct code_history *code;
	struct python_functions *python;
	struct symbolizer *members[MEMBER_COUNT];
	struct symbol_notes notes; /* about what is forgotten */
};

const char *symbol_result_text(enum symbol_result result)
{
	static const char *const texts[SYMBOL_RESULT_COUNT] = {
		[SYMBOL_FOUND] = "found",
		[SYMBOL_UNMAPPED] = "unmapped: the address is in no known mapping",
		[SYMBOL_NO_FILE] = "no file: it was deleted or replaced, or may not be opened",
		[SYMBOL_NOT_ELF] = "not ELF: the mapped file is not an ELF file of this machine",
		[SYMBOL_STRIPPED] = "stripped: no full symbol table and no debug file",
		[SYMBOL_NOT_IN_TABLE] = "not in table: no symbol covers the address",
		[SYMBOL_NO_PERF_MAP] =
			"no perf map: generated code without a usable /tmp/perf-PID.map",
		[SYMBOL_NO_KALLSYMS] =
			"no kallsyms: kernel symbols are hidden (kernel.kptr_restrict)",
		[SYMBOL_PERF_MAP_GONE] = "ended: the process had ended, and left no perf map, "
					 "before it was looked for",
		[SYMBOL_PERF_MAP_REFUSED] =
			"perf map refused: not a regular file, or of another user",
		[SYMBOL_OTHERS_PERF_MAP] =
			"perf map of another program: written before the program began, or after "
			"it ended",
		[SYMBOL_NAME_DROPPED] =
			"not kept: too many names of generated code, to save memory and time",
		[SYMBOL_PENDING] = "pending: not looked up yet",
		[SYMBOL_READ_ERROR] = "read error: the file or the list of symbols cannot be read",
		[SYMBOL_TABLE_REFUSED] = "symbol table refused: too large, damaged or compressed "
					 "by an unknown method",
		[SYMBOL_DEBUG_LIMIT] = "no debug file opened: too many are open already",
		[SYMBOL_NO_MEMORY] = "out of memory",
		[SYMBOL_NOT_LISTED] =
			"not listed: the Java code was removed before it could be read",
		[SYMBOL_METHOD_GONE] =
			"gone: the JVM ended, or unloaded the method, before its name was read",
	};

	if ((unsigned int)result >= SYMBOL_RESULT_COUNT || !texts[result])
		return "unknown reason";
	return texts[result];
}

enum symbol_result symbol_result_of_error(int err)
{
	switch (err) {
	case -ENOEXEC:
		return SYMBOL_NOT_ELF;
	case -ENOENT:
	case -ESTALE:
	case -ESRCH:
	case -EACCES:
	case -EPERM:
		return SYMBOL_NO_FILE;
	case -ENOMEM:
		return SYMBOL_NO_MEMORY;
	case -EFBIG:
	case -ENOSPC:
	case -EBADMSG:
	case -EINVAL:
	case -EOPNOTSUPP:
		return SYMBOL_TABLE_REFUSED;
	default:
		return SYMBOL_READ_ERROR;
	}
}

static void ask_members(struct chain *chain, const struct frame_location *location,
			struct symbol *ret_symbol)
{
	/* The page where the kernel emulates system calls: no file, the same in all processes. */
	static const struct symbol_line vsyscall = {.function = "[vsyscall]"};

	for (size_t i = 0; i < MEMBER_COUNT; i++)
		if (chain->members[i]->ops->resolve(chain->members[i], location, ret_symbol))
			return;
	if (location->space == FRAME_UNMAPPED && PKBPF_IS_VSYSCALL(location->address))
		*ret_symbol = (struct symbol){
			.module = vsyscall.function,
			.module_address = location->address,
			.lines = &vsyscall,
			.line_count = 1,
		};
	else
		*ret_symbol = (struct symbol){
			.result = SYMBOL_UNMAPPED,
			.module_address = location->address,
		};
}

static bool chain_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			  struct symbol *ret_symbol)
{
	struct chain *chain = (struct chain *)symbolizer;

	ask_members(chain, location, ret_symbol);
	return true;
}

static void chain_prepare(struct symbolizer *symbolizer, const struct frame_location *locations,
			  size_t count)
{
	symbolizer_prepare(((struct chain *)symbolizer)->members[MEMBER_ELF], locations, count);
}

/* Servers are asked in between, by the process that may. */
static struct symbolizer *new_elf_member(const struct chain *chain, struct string_pool *strings)
{
	const struct elf_files here = elf_files_of(chain->files);

	return chain->options.readers && !chain->options.debuginfod
		       ? elf_proxy_new(&chain->options, chain->files, strings)
		       : elf_symbolizer_new(&chain->options, &here, strings);
}

/* Strings of forgotten files cannot be freed singly, so the pool is replaced; remaining files are
 * read again on demand. */
static void renew_elf_member(struct chain *chain, size_t file_count)
{
	struct string_pool *strings = string_pool_new();
	struct symbolizer *elf = strings ? new_elf_member(chain, strings) : NULL;
	bool *none_used = calloc(file_count + 1, sizeof(*none_used));

	if (!elf || !none_used) {
		symbolizer_free(elf);
		if (strings)
			string_pool_free(strings);
		free(none_used);
		return;
	}
	symbolizer_forget_files(chain->members[MEMBER_ELF], none_used, file_count);
	symbolizer_free(chain->members[MEMBER_ELF]);
	string_pool_free(chain->elf_strings);
	chain->members[MEMBER_ELF] = elf;
	chain->elf_strings = strings;
	free(none_used);
}

static void chain_forget_files(struct symbolizer *symbolizer, const bool *is_used, size_t count)
{
	struct chain *chain = (struct chain *)symbolizer;

	for (size_t i = 0; i < MEMBER_COUNT; i++)
		symbolizer_tell(chain->members[i], &chain->notes);
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		symbolizer_forget_files(chain->members[i], is_used, count);
	if (string_pool_count(chain->elf_strings) > chain->elf_strings_max)
		renew_elf_member(chain, count);
}

static void chain_tell(struct symbolizer *symbolizer, struct symbol_notes *notes)
{
	struct chain *chain = (struct chain *)symbolizer;

	for (size_t i = 0; i < MEMBER_COUNT; i++)
		symbolizer_tell(chain->members[i], &chain->notes);
	for (size_t i = 0; i < chain->notes.count; i++)
		symbol_notes_add(notes, "%s", chain->notes.items[i]);
	notes->left_out += chain->notes.left_out;
}

static void chain_free(struct symbolizer *symbolizer)
{
	struct chain *chain = (struct chain *)symbolizer;

	if (!chain)
		return;
	for (size_t i = 0; i < MEMBER_COUNT; i++)
		symbolizer_free(chain->members[i]);
	symbol_notes_done(&chain->notes);
	code_history_free(chain->code);
	python_functions_free(chain->python);
	if (chain->strings)
		string_pool_free(chain->strings);
	if (chain->elf_strings)
		string_pool_free(chain->elf_strings);
	free(chain->kallsyms_path);
	free(chain->root);
	free(chain->debug_dir);
	free(chain);
}

static const struct symbolizer_ops chain_ops = {
	.name = "chain",
	.resolve = chain_resolve,
	.prepare = chain_prepare,
	.forget_files = chain_forget_files,
	.tell = chain_tell,
	.free = chain_free,
};

/* Options are copied: they need not outlive the call. */
static bool copy_options(struct chain *chain, const struct symbolizer_options *options)
{
	chain->kallsyms_path =
		strdup(options->kallsyms_path ? options->kallsyms_path : "/proc/kallsyms");
	chain->root = strdup(options->root ? options->root : "");
	chain->debug_dir = options->debug_dir ? strdup(options->debug_dir) : NULL;
	chain->options = *options;
	chain->options.kallsyms_path = chain->kallsyms_path;
	chain->options.root = chain->root;
	chain->options.debug_dir = chain->debug_dir;
	return chain->kallsyms_path && chain->root && (!options->debug_dir || chain->debug_dir);
}

struct symbolizer *symbolizer_chain_new(const struct symbolizer_options *options,
					struct process_table *processes)
{
	struct chain *chain = calloc(1, sizeof(*chain));
	bool complete;

	if (!chain)
		return NULL;
	chain->symbolizer.ops = &chain_ops;
	complete = copy_options(chain, options);
	chain->files = process_table_files(processes);
	chain->strings = string_pool_new();
	chain->elf_strings = string_pool_new();
	chain->elf_strings_max = ELF_STRINGS_MAX;
	if (complete && chain->strings && chain->elf_strings) {
		chain->members[MEMBER_KERNEL] = kernel_symbolizer_new(
			chain->kallsyms_path, &options->kernel_namer, chain->strings);
		chain->members[MEMBER_ELF] = new_elf_member(chain, chain->elf_strings);
		chain->code = code_history_new(&chain->options, processes, chain->strings);
	}
	chain->python = python_functions_new();
	if (chain->python)
		chain->members[MEMBER_PYTHON] = python_symbolizer_new(chain->python);
	if (chain->code)
		chain->members[MEMBER_GENERATED_CODE] = code_history_symbolizer_new(chain->code);
	for (size_t i = 0; i < MEMBER_COUNT; i++) {
		if (!chain->members[i]) {
			chain_free(&chain->symbolizer);
			return NULL;
		}
	}
	return &chain->symbolizer;
}

void symbolizer_chain_leave_lines(struct symbolizer *chain)
{
	if (chain)
		((struct chain *)chain)->options.lines = ((struct chain *)chain)->options.inlines =
			false;
}

size_t symbolizer_chain_strings(const struct symbolizer *chain)
{
	return string_pool_count(((const struct chain *)chain)->elf_strings);
}

void symbolizer_chain_limit_strings(struct symbolizer *chain, size_t count)
{
	((struct chain *)chain)->elf_strings_max = count;
}

struct code_history *symbolizer_chain_code_history(struct symbolizer *chain)
{
	return chain ? ((struct chain *)chain)->code : NULL;
}

struct python_functions *symbolizer_chain_python(struct symbolizer *chain)
{
	return chain ? ((struct chain *)chain)->python : NULL;
}

void symbolizer_prepare(struct symbolizer *symbolizer, const struct frame_location *locations,
			size_t count)
{
	if (symbolizer && symbolizer->ops->prepare)
		symbolizer->ops->prepare(symbolizer, locations, count);
}

void symbolizer_resolve(struct symbolizer *symbolizer, const struct frame_location *location,
			struct symbol *ret_symbol)
{
	if (symbolizer->ops->resolve(symbolizer, location, ret_symbol))
		return;
	*ret_symbol = (struct symbol){
		.result = SYMBOL_UNMAPPED,
		.module_address = location->address,
	};
}

void symbolizer_forget_files(struct symbolizer *symbolizer, const bool *is_used, size_t count)
{
	if (symbolizer->ops->forget_files)
		symbolizer->ops->forget_files(symbolizer, is_used, count);
}

void symbolizer_tell(struct symbolizer *symbolizer, struct symbol_notes *notes)
{
	if (symbolizer->ops->tell)
		symbolizer->ops->tell(symbolizer, notes);
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (symbolizer)
		symbolizer->ops->free(symbolizer);
}
