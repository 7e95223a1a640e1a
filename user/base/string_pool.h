/* SPDX-License-Identifier: BSD-2-Clause */
/* Distinct strings kept once and named by a dense id. Id 0 is always the empty string. */
#ifndef PKBPF_BASE_STRING_POOL_H
#define PKBPF_BASE_STRING_POOL_H

#include <stddef.h>
#include <stdint.h>

struct string_pool;

#define STRING_POOL_NONE UINT32_MAX

struct string_pool *string_pool_new(void);
void string_pool_free(struct string_pool *pool);
/* Id of the string, added when new; STRING_POOL_NONE: out of memory. */
uint32_t string_pool_add(struct string_pool *pool, const char *string);
/* `length` bytes up to the first NUL. */
uint32_t string_pool_add_n(struct string_pool *pool, const char *string, size_t length);
/* Id of the string; STRING_POOL_NONE: never added. */
uint32_t string_pool_find(const struct string_pool *pool, const char *string);
/* The string lives as long as the pool. An unknown id gives "". */
const char *string_pool_get(const struct string_pool *pool, uint32_t id);
size_t string_pool_count(const struct string_pool *pool);

#endif
