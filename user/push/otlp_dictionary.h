/* SPDX-License-Identifier: BSD-2-Clause */
/* What profiles of one OTLP request share: strings, functions, places, stacks and attributes, each
 * named by its index. Index 0 of each table stands for none. One owner thread. */
#ifndef PKBPF_PUSH_OTLP_DICTIONARY_H
#define PKBPF_PUSH_OTLP_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/hash_map.h"
#include "base/string_pool.h"
#include "profile/profile.h"

enum otlp_table {
	OTLP_MAPPINGS,
	OTLP_LOCATIONS,
	OTLP_FUNCTIONS,
	OTLP_STACKS,
	OTLP_ATTRIBUTES,
	OTLP_TABLES,
};

struct otlp_rows { /* of a table, as JSON */
	struct hash_map known;
	char *text;
	size_t size;
	FILE *out;
	uint32_t count;
};

struct otlp_dictionary {
	const struct profile *profile; /* borrowed */
	struct string_pool *strings;
	struct otlp_rows tables[OTLP_TABLES];
	bool has_no_memory; /* something is missing */
};

/* false: out of memory; done is called all the same. */
bool otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct profile *profile);
void otlp_dictionary_done(struct otlp_dictionary *dictionary);
uint32_t otlp_dictionary_string(struct otlp_dictionary *dictionary, const char *text);
/* Of a stack of the profile, by its id. */
uint32_t otlp_dictionary_stack(struct otlp_dictionary *dictionary, uint32_t stack);
/* A text, or a number where text is NULL; key is a literal. */
uint32_t otlp_dictionary_attribute(struct otlp_dictionary *dictionary, const char *key,
				   const char *text, uint64_t number);
/* Writes `"dictionary":{…}`, after which nothing is added. -ENOMEM: something is missing. */
int otlp_dictionary_write(struct otlp_dictionary *dictionary, FILE *out);

#endif
