/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the functions of a file that a pattern of --function means. */
#ifndef PKBPF_SOURCE_REGIONS_FUNCTION_MATCH_H
#define PKBPF_SOURCE_REGIONS_FUNCTION_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "elf/elf_file.h"

/* "[LIB:]GLOB" or "[LIB:]0xADDRESS", as linked. */
struct function_pattern {
	const char
		*library; /* base name without ".so" and what follows; NULL: the program itself */
	const char *glob;
	uint64_t address; /* 0: by name */
};

struct matched_function {
	uint64_t address, size; /* as linked */
	char *name;		/* demangled, without parameters; owned */
};

/* A part of a function that is rarely executed, elsewhere. */
struct cold_part {
	uint64_t address, size;
};

struct matched_functions {		 /* zero-initialised: empty */
	ARRAY_OF(struct cold_part) cold; /* of all functions of the file */
	ARRAY_OF(struct matched_function) items;
	uint32_t meant;	       /* names, of which several may be at one address */
	uint32_t chosen_later; /* names that stand for one of several functions (IFUNC), unknown
				  which */
};

/* Cuts text into pieces, which is kept. false: it is no pattern. */
bool function_pattern_parse(char *text, struct function_pattern *ret_pattern);
/* Does the pattern mean functions of this file? */
bool function_pattern_has_file(const struct function_pattern *pattern, const char *path);
/* Does it mean a function of this name, mangled or not? Writes it demangled, without what compilers
 * add; not for patterns of an address. */
bool function_pattern_means(const struct function_pattern *pattern, const char *name,
			    char *ret_name, size_t size);
/* Adds the functions of a file that are not there yet, by their mangled or demangled names, or, of
 * a stripped file, all or one by address. -ENOMEM. */
int function_match(const struct elf_file *file, const char *path,
		   const struct function_pattern *pattern, struct matched_functions *functions);
void matched_functions_done(struct matched_functions *functions);

#endif
