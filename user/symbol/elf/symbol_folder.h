/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names addresses of a recording by files in a folder: programs, libraries and debug files, found
 * by their build ids wherever they lie below it. So a recording of stripped programs gets names
 * later, on another machine. One owner thread.
 */
#ifndef PKBPF_SYMBOL_ELF_SYMBOL_FOLDER_H
#define PKBPF_SYMBOL_ELF_SYMBOL_FOLDER_H

#include "base/error.h"
#include "symbol/symbolizer.h"

/* Files below the folder that are looked at; more are left out, which is said. */
#define SYMBOL_FOLDER_MAX_FILES 100000

struct symbol_folder;

/* Looks through the folder; path outlives it. with_lines: file:line, too. -ENOTDIR, -ENOENT and
 * the like; with the sentence. */
int symbol_folder_open(const char *path, bool with_lines, struct symbol_folder **ret_folder,
		       struct error *error);
void symbol_folder_free(struct symbol_folder *folder); /* NULL is fine */

/* Gives a symbol without a name (of a file with a build id) the name of a file in the folder. Texts
 * live as long as the folder. false: nothing there names it; the symbol stays as it is. */
bool symbol_folder_name(struct symbol_folder *folder, bool is_return_address,
			struct symbol *symbol);

/* What came of it: distinct build ids that were asked for, and those with a file here. */
struct symbol_folder_notes {
	size_t asked, found;
	const char *missing; /* the module of one that has none; NULL: all have */
	bool is_cut;	     /* there are more than SYMBOL_FOLDER_MAX_FILES files */
};
struct symbol_folder_notes symbol_folder_notes(const struct symbol_folder *folder);

#endif
