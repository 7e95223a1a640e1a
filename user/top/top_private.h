/* SPDX-License-Identifier: BSD-2-Clause */
/* State of the live view, shared by its files. */
#ifndef PKBPF_TOP_TOP_PRIVATE_H
#define PKBPF_TOP_TOP_PRIVATE_H

#include "base/array.h"
#include "finding/results.h"
#include "rows/plumbing.h"
#include "top/top.h"
#include "top/top_columns.h"
#include "top/top_slices.h"
#include "top/top_tree.h"

#define TOP_NAME_SIZE (ROW_CONTAINER_SIZE + PKBPF_COMM_SIZE + 32)
#define TOP_TEXT_SIZE 256
#define TOP_HISTORY   60

enum top_mode { TOP_TABLE, TOP_TREE, TOP_HELP };

/* What a line that is typed is for. */
enum top_prompt { TOP_NO_PROMPT, TOP_SEARCH, TOP_FILTER, TOP_WRITE };

/* Which row, over slices and orders. */
struct top_row_name {
	char text[TOP_NAME_SIZE];
};

struct top_base_row {
	struct top_row_name name;
	double values[TOP_COLUMNS_MAX];
};

struct top {
	struct top_options options;
	struct top_slices slices;
	double history[TOP_HISTORY]; /* busy percent of slices, -1 unknown; the last is newest */
	uint64_t since_finding_ns;   /* length of the slices since alarms were looked for */
	uint64_t finding_took_ns;    /* CPU time, when they were last */
	char finding[FINDING_TEXT_SIZE]; /* the worst alarm of the last minute */

	/* What is shown: a profile, either the last slice or a merged one of our own. */
	bool minute, frozen;
	struct profile *shown;
	struct results results;
	bool has_results;
	const struct resource_rows *all;
	struct plumbing plumbing;
	ARRAY_OF(const struct resource_row *) rows; /* filtered and sorted */

	enum rows_by by;
	int sort;
	bool reversed;
	char filter[TOP_TEXT_SIZE];
	size_t cursor, first; /* of the table: row under the cursor, first one on the screen */
	bool follows;
	struct top_row_name followed;
	size_t page; /* rows on the screen */

	ARRAY_OF(struct top_base_row) base; /* to which differences are shown; none: figures */

	enum top_mode mode;
	enum top_prompt prompt;
	char typed[TOP_TEXT_SIZE];
	char search[TOP_TEXT_SIZE];
	char message[TOP_TEXT_SIZE]; /* until the next key */

	struct top_row_name tree_of;
	bool minute_before; /* what the table shows, while the tree shows the minute */
	struct top_tree tree;
};

void top_name_row(const struct top *top, const struct resource_row *row,
		  struct top_row_name *ret_name);
/* The row of this name among those shown; NULL: it is not there. */
const struct resource_row *top_find_row(const struct top *top, const struct top_row_name *name,
					size_t *ret_index);
/* Makes rows of what is to be shown now; after a change of anything they depend on. -ENOMEM. */
int top_refresh(struct top *top);
/* Makes the order and the choice of rows anew. -ENOMEM. */
int top_sort(struct top *top);
/* Builds the tree of the row that is looked at. -ENOMEM. */
int top_refresh_tree(struct top *top);
const struct top_base_row *top_base_of(const struct top *top, const struct resource_row *row);
void top_say(struct top *top, const char *format, ...) __attribute__((format(printf, 2, 3)));
void top_draw_help(struct top_screen *screen);

#endif
