/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One option of a command line as data: its names, its texts, the form of its value and the member
 * of a struct that the value is stored in. Parsing, --help, the manual and completions read the
 * same rows:
 *
 *	{'d', "duration", "TIME", "length of the profile", .form = OPTION_DURATION,
 *	 OPTION_AT(struct live_options, duration_ns)},
 */
#ifndef PKBPF_BASE_OPTION_ROW_H
#define PKBPF_BASE_OPTION_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum option_form {
	OPTION_FLAG,	 /* bool: takes no value, becomes true */
	OPTION_CONSTANT, /* integer or enum: takes no value, becomes `constant` */
	OPTION_COUNT,	 /* unsigned int: takes no value, counts how often it is given */
	OPTION_NUMBER,	 /* unsigned integer of 4 or 8 bytes, from least to most */
	OPTION_DURATION, /* uint64_t of nanoseconds, more than 0 */
	OPTION_SIZE,	 /* uint64_t of bytes, from least to most */
	OPTION_CHOICE,	 /* integer or enum: the index of the value in choices */
	OPTION_TEXT,	 /* const char *: the value itself, borrowed, not empty */
	OPTION_PARSED,	 /* by the row's own function */
};

/* Sections of --help and of the manual. */
enum option_group {
	OPTION_GROUP_TARGETS,
	OPTION_GROUP_EVENTS,
	OPTION_GROUP_OUTPUT,
	OPTION_GROUP_GENERAL,
	OPTION_GROUP_COUNT,
};

/* What a shell offers as value; of OPTION_CHOICE it offers the choices. */
enum option_completion {
	OPTION_COMPLETES_NOTHING,
	OPTION_COMPLETES_FILE,
	OPTION_COMPLETES_PID,
	OPTION_COMPLETES_TID,
	OPTION_COMPLETES_CGROUP,
	OPTION_COMPLETES_KIND,	 /* of event */
	OPTION_COMPLETES_FORMAT, /* of output */
};

struct option_row {
	char letter;	      /* 0: none */
	const char *name;     /* long name without dashes */
	const char *argument; /* what the value is called; NULL: takes none */
	const char *summary;  /* for --help, no full stop */
	const char *text;     /* sentences that the manual adds to the summary; NULL: none */
	enum option_group group;
	bool repeatable; /* a second one adds to the first; others replace it */
	enum option_completion completes;
	enum option_form form;
	size_t offset, size; /* of the member: OPTION_AT */
	uint64_t constant;
	uint64_t least, most;
	const char *const *choices; /* ends in NULL */
	/* Kind of event that has to be recorded when this flag is given; NULL: none. */
	const char *needs;
	/* OPTION_PARSED, and OPTION_CHOICE that takes more than its choices; value is NULL when the
	 * row takes none. 0, or -EINVAL / -ERANGE / -ENOMEM
	 * with the sentence. */
	int (*parse)(void *options, const char *value, struct error *error);
};

#define OPTION_AT(type, member)                                                                    \
	.offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)

/* Stores value (NULL: the row takes none) in options, the struct that the row is about. Errors as
 * those of parse. */
int option_row_apply(const struct option_row *row, void *options, const char *value,
		     struct error *error);

#endif
