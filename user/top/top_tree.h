/* SPDX-License-Identifier: BSD-2-Clause */
/* The call tree of one row: which of its lines are open, and the cursor. One owner thread. */
#ifndef PKBPF_TOP_TOP_TREE_H
#define PKBPF_TOP_TOP_TREE_H

#include "base/hash_map.h"
#include "profile/call_tree.h"
#include "rows/resource_rows.h"
#include "top/top_screen.h"

struct top_tree_line {
	uint32_t node;
	unsigned int indent;
	bool has_children, is_open;
	uint64_t path; /* hash of the names down to it */
};

struct top_tree {
	enum pkbpf_profile_kind kind;
	struct call_tree *tree; /* NULL: no such events */
	struct top_tree_line *lines;
	size_t count, capacity;
	struct hash_map turned; /* path -> 1: open, 0: closed, against the default */
	size_t cursor, first;
};

/* Of the row's stacks of the kind. The cursor and what is open stay. -ENOMEM. */
int top_tree_build(struct top_tree *tree, const struct resource_rows *rows,
		   const struct resource_row *row);
void top_tree_turn(struct top_tree *tree, bool open);
void top_tree_move(struct top_tree *tree, long by);
void top_tree_draw(struct top_tree *tree, struct top_screen *screen, size_t below);
/* Forgets the stacks, or also what was open. */
void top_tree_clear(struct top_tree *tree);
void top_tree_done(struct top_tree *tree);

#endif
