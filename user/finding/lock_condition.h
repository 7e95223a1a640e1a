/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions on locks, for scripts that want to fail when one holds:
 *
 *	EXPR = ["?"] "lock[" NAME "]." FIGURE OP VALUE | "lock." FIGURE OP VALUE
 *	NAME			its symbol, "config+0x18", or the name of a report in full: "mutex
 *in fetch"; "*": any lock; without: all locks together
 *	"?"			no such lock is no failure
 *	FIGURE			see lock_figures[]: "wait", "wait_share", "waits", "p99", …
 *
 * OP and VALUE as in finding/condition.h. Waits to be signalled are not among them.
 */
#ifndef PKBPF_FINDING_LOCK_CONDITION_H
#define PKBPF_FINDING_LOCK_CONDITION_H

#include <stdbool.h>

#include "base/error.h"
#include "finding/quantity.h"
#include "rows/lock_view.h"

/* What a figure is taken of: a lock, or several together. */
struct lock_figures {
	struct lock lock;
	uint64_t wall_ns; /* of all threads of the processes that wait for it */
};

struct lock_figure {
	const char *name;
	enum figure_unit unit;
	const char *summary;
	double (*value)(const struct lock_figures *figures);
};

struct lock_condition {
	const struct lock_figure *figure;
	enum condition_comparison comparison;
	double value;
	bool may_be_absent, is_any;
	char name[LOCK_NAME_TEXT_SIZE]; /* "": all locks together, unless is_any */
};

/* Is it a condition on locks? */
bool lock_condition_is(const char *text);
/* -EINVAL with a sentence that says what is wrong. */
int lock_condition_parse(const char *text, struct lock_condition *ret_condition,
			 struct error *error);
/* Before anything is recorded: -EINVAL with a clause that says what to add, when a profile of these
 * kinds (1 << enum pkbpf_profile_kind) would not have the figure. */
int lock_condition_check_possible(uint32_t kinds_mask, struct error *error);
/* Calls back with a sentence for each lock that meets the condition, or for those of the name
 * together, not escaped. Returns their number. -ENODATA: locks were not recorded; -ESRCH: there is
 * no lock of this name; -ENOMEM. functions: of the profile. */
int lock_condition_check(const struct lock_condition *condition, const struct profile *profile,
			 const struct function_table *functions,
			 void (*on_breach)(void *context, const char *sentence), void *context);

#endif
