/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of folded stacks: each distinct one once, in the order of `sort` in the C locale. One
 * owner thread. */
#ifndef PKBPF_EXPORT_FOLDED_LINES_H
#define PKBPF_EXPORT_FOLDED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pkbpf/event.h>

struct folded_lines;
struct string_pool;

/* texts: of all lines, borrowed; none of them is empty or has a ';'. NULL: out of memory. */
struct folded_lines *folded_lines_new(const struct string_pool *texts);
void folded_lines_free(struct folded_lines *lines);
/* Adds weight to the line of these texts, root first. false: out of memory. */
bool folded_lines_add(struct folded_lines *lines, const uint32_t *texts, size_t count,
		      uint64_t weight);
/* Once: sorts and writes all, their weights in the unit of the kind. false: out of memory; errors
 * of writing are the stream's. */
bool folded_lines_write(struct folded_lines *lines, enum pkbpf_profile_kind kind, FILE *out);

#endif
