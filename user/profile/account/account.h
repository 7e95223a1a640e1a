/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How an account of a profile is kept, merged and recorded. An account is a struct with arrays of
 * rows. Columns describe the members of a row: which name processes, stacks and strings of the
 * profile, and how each is recorded. So one description serves the merge of slices, the marks of
 * what is in use, new numbers of stacks, and recordings.
 */
#ifndef PKBPF_PROFILE_ACCOUNT_ACCOUNT_H
#define PKBPF_PROFILE_ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/counter.h>

#include "profile/account/account_list.h"
#include "profile/account/recorded_columns.h"

/* What a row's members hold that are arrays themselves: a table of its own in recordings. */
struct account_parts {
	struct recorded_table recorded;
	/* The next part of a row; place: of the row. false: there are no more. */
	bool (*next)(const void *row, uint32_t place, size_t *cursor, void *ret_part);
	/* Gives rows that were read their parts, which outlive them. -EBADMSG. */
	int (*put)(void *rows, size_t row_count, void *parts, size_t part_count);
};

struct account_table {
	struct recorded_table recorded;
	size_t rows; /* offset of an ARRAY_OF() in the account: ACCOUNT_ROWS() */
	const struct account_parts *parts; /* NULL: none */
	/* 1 << enum pkbpf_profile_kind; 0: of no kind, or a column has it */
	uint32_t kinds_mask;
	/* Adds a copy of a row. Its number, for those that refer to it; -ENOSPC: no room, which is
	 * counted; -ENOMEM. */
	int64_t (*add)(void *account, const void *row);
	enum pkbpf_counter no_room;
	/* May a row that was read be? NULL: any. */
	bool (*is_valid)(const void *row);
	/* Does a row stay when slices are merged? CPU samples weigh `rate` times as much there;
	 * has_times: the merged slice tells when things were. NULL: all stay. */
	bool (*joins)(void *row, double rate, bool has_times);
};

/* The rows of a table, of which account_type has an ARRAY_OF(). */
#define ACCOUNT_ROWS(account_type, member) offsetof(account_type, member)

struct account_ops {
	size_t size; /* of the account; zeroes are an empty one, unless init does more */
	void (*init)(void *account);
	void (*done)(void *account);
	const struct account_table *tables;
	size_t table_count;
	/* Distributions name its rows: recorded before them, and merged with them. */
	bool is_named;
	/* Before rows of another are added. NULL: nothing is to be done. */
	void (*join)(void *account, const void *other);
	/* CPU samples weigh this many times as much from now on. NULL: it has none. */
	void (*raise_rate)(void *account, double rate);
	/* Stacks of rows have changed. NULL: no key depends on them. */
	void (*rekey)(void *account);
	/* Changes the process of each row, and adds up those that are the same then. -ENOMEM:
	 * nothing has changed. NULL: rows keep their process. */
	int (*regroup)(void *account, uint32_t (*group)(const void *context, uint32_t process),
		       const void *context);
};

#define X(name, type) extern const struct account_ops account_ops_##name;
ACCOUNT_LIST(X)
#undef X

const struct account_ops *account_ops_of(enum account account);

/* NULL: out of memory. */
void *account_new(enum account account);
/* Accepts NULL. */
void account_free(enum account account, void *list);
/* Rows of one of its tables, until the next one is added. */
void *account_rows(const struct account_table *table, const void *list, size_t *ret_count);
/* The first column of this form; NULL: none. */
const struct recorded_column *account_column(const struct recorded_table *table,
					     enum recorded_form form);
/* Members of uint32_t. */
uint32_t account_number(const struct recorded_column *column, const void *row);
void account_set_number(const struct recorded_column *column, void *row, uint32_t number);
/* Sets is_used[id] for ids below count that rows name: RECORDED_PROCESS, or RECORDED_STACK, which
 * includes those of RECORDED_STACK_OR_NONE. */
void account_mark(enum account account, const void *list, enum recorded_form form, bool *is_used,
		  size_t count);
/* Updates stacks: numbers[old] is the new one, of `count`. */
void account_renumber(enum account account, void *list, const uint32_t *numbers, size_t count);

#endif
