/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over the rows of one profile kind by line of source, where lines are known. */
#ifndef PKBPF_ROWS_LINE_ROWS_H
#define PKBPF_ROWS_LINE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/function_table.h"
#include "profile/profile.h"
#include "symbol/source_text.h"

/* Instead of lines where there is none. */
#define LINE_ROWS_NONE                                                                             \
	"No source line is known. Native programs need debug information (DWARF) in their files "  \
	"or debug files; recordings need --lines or --by-line when they are made."

struct line_row {
	uint32_t function; /* in functions: one for each line of a function */
	uint32_t process;  /* the first one seen with it */
	/* self: of stacks in which no callee's line is known: what a library without debug
	 * information or the kernel does counts for the line that called it. total: of stacks with
	 * this line; recursion counts once. */
	uint64_t self, total;
};

struct line_rows {
	enum pkbpf_profile_kind kind;
	uint64_t weight; /* of all stacks, also of those without a line */
	struct function_table *functions;
	struct line_row *rows; /* largest self weight first */
	size_t count;	       /* 0: no line is known */
};

/* Of a symbolized profile. -ENOMEM. */
int line_rows_init(struct line_rows *lines, const struct profile *profile,
		   enum pkbpf_profile_kind kind);
void line_rows_done(struct line_rows *lines);
/* Has any kind a line? Also true without stacks and without memory: then nothing says why. */
bool line_rows_known(const struct profile *profile);
/* Text of the line, see symbol/source_text.h; NULL: it cannot be read, or sources is NULL. */
const char *line_rows_text(const struct line_rows *lines, const struct line_row *row,
			   const struct profile *profile, struct source_text *sources);

#endif
