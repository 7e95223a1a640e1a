/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a JSON document into a tree (RFC 8259). Files come from strangers: size and depth are
 * bounded. */
#ifndef PKBPF_BASE_JSON_TREE_H
#define PKBPF_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define JSON_SIZE_MAX  (64U << 20)
#define JSON_DEPTH_MAX 64

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

struct json_tree;
/* Valid as long as its tree. */
struct json_value;

/* -EBADMSG with the place, -EFBIG, -ENOMEM; "expected a value in line 3". */
int json_tree_parse(const char *text, size_t size, struct json_tree **ret_tree,
		    struct error *error);
void json_tree_free(struct json_tree *tree); /* NULL is fine */
const struct json_value *json_tree_root(const struct json_tree *tree);

/* All take NULL for value, which has nothing. */
enum json_kind json_kind_of(const struct json_value *value);
/* Members of an object, items of an array; NULL: none, or no more. */
const struct json_value *json_first(const struct json_value *value);
const struct json_value *json_next(const struct json_value *value);
/* Key of a member; "" of others. */
const char *json_key(const struct json_value *value);
/* The first member of this name; NULL: none, or no object. */
const struct json_value *json_find(const struct json_value *value, const char *key);
/* NULL: no string. May hold any bytes but NUL, which \u0000 becomes '?'. */
const char *json_string(const struct json_value *value);
/* false: no number, or not finite. */
bool json_number(const struct json_value *value, double *ret_number);
/* false unless it is true. */
bool json_is_true(const struct json_value *value);

#endif
