/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configuration as text:
 *
 *	# a comment
 *	key = value			before the first section
 *	[kind name]			name: may be absent
 *	key = value # a comment		behind a blank
 *
 * Values reach to the end of the line, without blanks around them.
 */
#ifndef PKBPF_BASE_INI_H
#define PKBPF_BASE_INI_H

#include "base/array.h"
#include "base/error.h"

struct ini_entry {
	const char *kind, *name; /* of its section; "" before the first one, or without a name */
	const char *key;	 /* NULL: the section itself */
	const char *value;
	unsigned int line;
};

struct ini {
	ARRAY_OF(struct ini_entry) entries; /* in the order of the text */
};

/* Takes text apart in place: entries point into it. -EINVAL: a line is none of these; -ENOMEM; with
 * the sentence, which begins with the line. ret_ini is for ini_done() all the same. */
int ini_parse(char *text, struct ini *ret_ini, struct error *error);
void ini_done(struct ini *ini);

#endif
