/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is recorded of a struct: a column for each member, with a number for good.
 *
 *	static const struct recorded_column columns[] = {
 *		COLUMN(PROCESS, 1, struct slow_io, process),
 *		COLUMN(NUMBER, 2, struct slow_io, tid),
 *	};
 *	ALL_MEMBERS(struct slow_io, 72);
 *
 * Columns that hold 0 in all rows are left out; a reader fills what is not there with 0 and skips
 * numbers that it does not know. So both sides may be older or newer.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_RECORDED_COLUMNS_H
#define PKBPF_PROFILE_ACCOUNT_RECORDED_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

enum recorded_form {
	RECORDED_NUMBER, /* unsigned of 1, 2, 4 or 8 bytes, or enum */
	RECORDED_FLAG,	 /* bool */
	RECORDED_SIGNED, /* int64_t */
	RECORDED_STEP,	 /* uint64_t, as its difference to that of the row before */
	RECORDED_TEXT,	 /* char array, cut to its size when it is read */
	RECORDED_STRING, /* const char *, or NULL; borrowed from the strings when it is read */
	/* Only in rows of accounts (account.h), which refer to the profile around them. The same
	 * row in another slice or in a recording has other numbers there. */
	RECORDED_PROCESS,	/* uint32_t: incarnation id; recorded as 1 + place, 0: none */
	RECORDED_PID,		/* uint32_t: pid of the process that the row belongs to */
	RECORDED_KIND,		/* enum pkbpf_profile_kind that the row belongs to */
	RECORDED_STACK,		/* uint32_t: stack id; recorded as 1 + place */
	RECORDED_STACK_OR_NONE, /* the same; UINT32_MAX: none, recorded as 0 */
	RECORDED_NAME,		/* uint32_t: profile_string(); recorded as a string */
	RECORDED_DEVICE,	/* uint32_t: block device, whose name is recorded, too */
	RECORDED_TIME,		/* uint64_t: CLOCK_MONOTONIC; 0: none */
	RECORDED_TIME_STEP,	/* the same; recorded as RECORDED_STEP */
	RECORDED_PLACE,		/* uint32_t: index of a row of the account's first table */
	RECORDED_PARENT, /* the same, of a row before it; UINT32_MAX: none. Recorded as 1 + place */
};

struct recorded_column {
	uint16_t number;
	enum recorded_form form;
	size_t offset, size; /* of the member */
};

#define RECORDED_AS(form_, number_, type, member)                                                  \
	{                                                                                          \
		.number = (number_), .form = (form_), .offset = offsetof(type, member),            \
		.size = sizeof(((type *)NULL)->member)                                             \
	}
#define RECORDED(number, type, member)	   RECORDED_AS(RECORDED_NUMBER, number, type, member)
#define COLUMN(form, number, type, member) RECORDED_AS(RECORDED_##form, number, type, member)

/* Has every member a column, or a reason to have none? Then the size is the new one. */
#define ALL_MEMBERS(type, bytes)                                                                   \
	_Static_assert(sizeof(type) == (bytes), "a new member needs a column here")

struct recorded_table {
	uint16_t section; /* its number in a block, for good */
	size_t row_size;
	const struct recorded_column *columns;
	size_t column_count;
};

#define RECORDED_TABLE(number, type, columns_)                                                     \
	{                                                                                          \
		.section = (number), .row_size = sizeof(type), .columns = (columns_),              \
		.column_count = sizeof(columns_) / sizeof((columns_)[0])                           \
	}

#endif
