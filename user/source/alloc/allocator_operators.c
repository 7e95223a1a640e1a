// SPDX-License-Identifier: BSD-2-Clause
/* Looks for allocators in the files of a command. */
#include "source/alloc/allocator_operators.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/elf_symbol.h"
#include "elf/go_table.h"
#include "source/regions/region_command.h"

#define MAX_STRING_BYTES (64U << 20)

/* Does the file export malloc() and operators? Those of libstdc++ and libc++, which have no
 * malloc(), call it; those of an allocator mostly do not. */
static bool allocator_has_operators(const struct elf_file *file)
{
	bool has_malloc = false, has_operator = false;
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	char name[32];

	if (elf_symbol_reader_open(file, SHT_DYNSYM, &reader) < 0)
		return false;
	if (elf_strings_load(&reader.strings, file, MAX_STRING_BYTES) == 0)
		while (!(has_malloc && has_operator) && elf_symbol_reader_next(&reader, &symbol)) {
			if (symbol.section == SHN_UNDEF || symbol.type != STT_FUNC ||
			    elf_strings_read(&reader.strings, file, symbol.name, name,
					     sizeof(name)))
				continue;
			has_malloc |= strcmp(name, "malloc") == 0;
			has_operator |= strcmp(name, "_Znwm") == 0;
		}
	elf_symbol_reader_close(&reader);
	return has_malloc && has_operator;
}

static void look_at_file(void *context, int fd, const char *path)
{
	const struct log *log = context;
	struct elf_file file;

	if (elf_file_open(&file, fd) < 0)
		return;
	if (allocator_has_operators(&file))
		log_warning(log,
			    "allocations by the C++ operators of %s are not sampled, unless these "
			    "call malloc(); start the command alone and record it with --pid",
			    path);
	if (go_table_is_expected(&file))
		log_warning(log,
			    "allocations of Go in %s are not sampled, only those of C: its heap is "
			    "not that of malloc(); net/http/pprof has it",
			    path);
	elf_file_done(&file);
}

static void look_at_preloaded(const char *list, const struct log *log)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *path;

	while (copy && (path = strsep(&rest, ": "))) {
		_cleanup_close_ int fd =
			strchr(path, '/') ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

		if (fd >= 0)
			look_at_file((void *)log, fd, path);
	}
}

void allocator_operators_warn(const char *command, const struct log *log)
{
	const char *preloaded = getenv("LD_PRELOAD");

	region_command_files(command, look_at_file, (void *)log);
	if (preloaded)
		look_at_preloaded(preloaded, log);
}
