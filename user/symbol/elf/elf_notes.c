// SPDX-License-Identifier: BSD-2-Clause
#include "symbol/elf/elf_notes.h"

#include "symbol/elf/libc_package.h"

void elf_notes_missing(struct symbol_notes *notes, const char *path, const char *missing)
{
	if (missing)
		symbol_notes_add(notes,
				 "inlined functions are missing in %s, whose debug information is "
				 "incomplete: %s",
				 path, missing);
}

void elf_notes_unresolved(struct symbol_notes *notes, const char *name,
			  const struct debug_file_search *search, bool asks_servers)
{
	const char *advice;

	if (!libc_is_file(name))
		return;
	advice = libc_package_find(name, search);
	symbol_notes_add(notes,
			 "%s has no names for functions of its own, such as those that begin "
			 "threads: %s%s",
			 name, advice ? advice : "install the debug symbols of the C library",
			 asks_servers ? "" : ", or use --debuginfod");
}
