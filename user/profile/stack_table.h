/* SPDX-License-Identifier: BSD-2-Clause */
/* Distinct sequences of 32-bit ids (stacks of frames or functions), each stored once and
 * identified by a dense id. */
#ifndef PKBPF_PROFILE_STACK_TABLE_H
#define PKBPF_PROFILE_STACK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct stack_table;

#define STACK_TABLE_NONE UINT32_MAX

struct stack_table *stack_table_new(void);
void stack_table_free(struct stack_table *table);
/* Id of the sequence, added when new; STACK_TABLE_NONE: out of memory. */
uint32_t stack_table_add(struct stack_table *table, const uint32_t *items, size_t count);
/* Borrowed until the next add. NULL with *ret_count 0 for an unknown id. */
const uint32_t *stack_table_get(const struct stack_table *table, uint32_t id, size_t *ret_count);
size_t stack_table_count(const struct stack_table *table);
/* Bytes of memory in use: of one sequence, and of all. */
size_t stack_table_item_bytes(size_t count);
size_t stack_table_bytes(const struct stack_table *table);

#endif
