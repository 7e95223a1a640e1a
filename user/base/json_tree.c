// SPDX-License-Identifier: BSD-2-Clause
#include "base/json_tree.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Of a number; no finite one needs more. */
#define NUMBER_SIZE 64
#define NO_VALUE    0 /* the index of the root, which nothing refers to */

struct json_value {
	enum json_kind kind;
	uint32_t first, next; /* indexes */
	uint32_t key, text;   /* offsets in texts; 0: "" */
	double number;
	const struct json_tree *tree;
};

struct json_tree {
	ARRAY_OF(struct json_value) values;
	char *texts; /* no longer than the document: strings shrink */
	size_t text_size;
};

struct parsing {
	struct json_tree *tree;
	const char *begin, *at, *end;
	unsigned int depth;
	struct error *error;
};

static int fail(const struct parsing *parsing, const char *expected)
{
	size_t line = 1;

	for (const char *at = parsing->begin; at < parsing->at; at++)
		line += *at == '\n';
	return error_set(parsing->error, EBADMSG, "expected %s in line %zu", expected, line);
}

static void skip_space(struct parsing *parsing)
{
	while (parsing->at < parsing->end && *parsing->at && strchr(" \t\r\n", *parsing->at))
		parsing->at++;
}

static bool take(struct parsing *parsing, char wanted)
{
	skip_space(parsing);
	if (parsing->at == parsing->end || *parsing->at != wanted)
		return false;
	parsing->at++;
	return true;
}

/* ---- strings ---- */

static void put(struct parsing *parsing, uint32_t byte)
{
	parsing->tree->texts[parsing->tree->text_size++] = (char)(byte ? byte : '?');
}

/* UTF-8 takes no more bytes than the escape did. */
static void put_character(struct parsing *parsing, uint32_t character)
{
	if (character < 0x80) {
		put(parsing, character);
	} else if (character < 0x800) {
		put(parsing, 0xc0 | character >> 6);
		put(parsing, 0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		put(parsing, 0xe0 | character >> 12);
		put(parsing, 0x80 | (character >> 6 & 0x3f));
		put(parsing, 0x80 | (character & 0x3f));
	} else {
		put(parsing, 0xf0 | character >> 18);
		put(parsing, 0x80 | (character >> 12 & 0x3f));
		put(parsing, 0x80 | (character >> 6 & 0x3f));
		put(parsing, 0x80 | (character & 0x3f));
	}
}

static bool take_hex(struct parsing *parsing, uint32_t *ret_number)
{
	static const char digits[] = "0123456789abcdef";

	*ret_number = 0;
	if (parsing->end - parsing->at < 4)
		return false;
	for (int i = 0; i < 4; i++, parsing->at++) {
		const char *digit = memchr(digits, tolower((unsigned char)*parsing->at), 16);

		if (!digit)
			return false;
		*ret_number = *ret_number << 4 | (uint32_t)(digit - digits);
	}
	return true;
}

/* What follows "\u"; of two surrogates that belong together, one character. */
static bool take_unicode(struct parsing *parsing)
{
	uint32_t character, low;
	const char *behind;

	if (!take_hex(parsing, &character))
		return false;
	behind = parsing->at;
	if (character >= 0xd800 && character < 0xdc00 && parsing->end - parsing->at >= 6 &&
	    memcmp(parsing->at, "\\u", 2) == 0) {
		parsing->at += 2;
		if (take_hex(parsing, &low) && low >= 0xdc00 && low < 0xe000) {
			put_character(parsing,
				      0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00));
			return true;
		}
		parsing->at = behind;
	}
	put_character(parsing, character >= 0xd800 && character < 0xe000 ? 0xfffd : character);
	return true;
}

static bool take_escape(struct parsing *parsing)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *place;

	if (parsing->at == parsing->end)
		return false;
	if (*parsing->at == 'u') {
		parsing->at++;
		return take_unicode(parsing);
	}
	place = memchr(from, *parsing->at++, sizeof(from) - 1);
	if (place)
		put(parsing, (uint32_t)to[place - from]);
	return place;
}

static int take_string(struct parsing *parsing, uint32_t *ret_text)
{
	*ret_text = (uint32_t)parsing->tree->text_size;
	if (!take(parsing, '"'))
		return fail(parsing, "a string");
	while (parsing->at < parsing->end && *parsing->at != '"') {
		unsigned char byte = (unsigned char)*parsing->at++;

		if (byte == '\\' && !take_escape(parsing))
			return fail(parsing, "an escape");
		if (byte < ' ')
			return fail(parsing, "no control character");
		if (byte != '\\')
			put(parsing, byte);
	}
	if (!take(parsing, '"'))
		return fail(parsing, "the end of a string");
	parsing->tree->texts[parsing->tree->text_size++] = '\0';
	return 0;
}

/* ---- values ---- */

static int take_value(struct parsing *parsing, uint32_t key, uint32_t *ret_index);

static int take_number(struct parsing *parsing, double *ret_number)
{
	char text[NUMBER_SIZE], *end;
	size_t length = 0;

	while (parsing->at + length < parsing->end && length < sizeof(text) - 1 &&
	       parsing->at[length] && strchr("+-.0123456789eE", parsing->at[length]))
		length++;
	memcpy(text, parsing->at, length);
	text[length] = '\0';
	*ret_number = strtod(text, &end);
	if (!length || *end || !(text[0] == '-' || isdigit((unsigned char)text[0])))
		return fail(parsing, "a value");
	parsing->at += length;
	return 0;
}

static bool take_word(struct parsing *parsing, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(parsing->end - parsing->at) < length || memcmp(parsing->at, word, length) != 0)
		return false;
	parsing->at += length;
	return true;
}

static int take_items(struct parsing *parsing, uint32_t parent, bool are_members)
{
	char end = are_members ? '}' : ']';
	uint32_t last = NO_VALUE;

	parsing->at++;
	if (take(parsing, end))
		return 0;
	do {
		uint32_t key = 0, index;
		int err = are_members ? take_string(parsing, &key) : 0;

		if (err == 0 && are_members && !take(parsing, ':'))
			err = fail(parsing, "a colon");
		if (err == 0)
			err = take_value(parsing, key, &index);
		if (err < 0)
			return err;
		if (last == NO_VALUE)
			parsing->tree->values.items[parent].first = index;
		else
			parsing->tree->values.items[last].next = index;
		last = index;
	} while (take(parsing, ','));
	return take(parsing, end) ? 0
				  : fail(parsing, are_members ? "} or a comma" : "] or a comma");
}

static int take_content(struct parsing *parsing, uint32_t index)
{
	struct json_value *value = &parsing->tree->values.items[index];

	if (parsing->at == parsing->end)
		return fail(parsing, "a value");
	switch (*parsing->at) {
	case '{':
		value->kind = JSON_OBJECT;
		return take_items(parsing, index, true);
	case '[':
		value->kind = JSON_ARRAY;
		return take_items(parsing, index, false);
	case '"':
		value->kind = JSON_STRING;
		return take_string(parsing, &value->text);
	}
	if (take_word(parsing, "null")) {
		value->kind = JSON_NULL;
		return 0;
	}
	if (take_word(parsing, "true") || take_word(parsing, "false")) {
		value->kind = parsing->at[-2] == 'u' ? JSON_TRUE : JSON_FALSE;
		return 0;
	}
	value->kind = JSON_NUMBER;
	return take_number(parsing, &value->number);
}

static int take_value(struct parsing *parsing, uint32_t key, uint32_t *ret_index)
{
	struct json_value *value;
	int err;

	if (parsing->depth == JSON_DEPTH_MAX)
		return fail(parsing, "less nesting");
	value = array_add(&parsing->tree->values);
	if (!value)
		return error_set(parsing->error, ENOMEM, "out of memory");
	value->key = key;
	value->tree = parsing->tree;
	*ret_index = (uint32_t)parsing->tree->values.count - 1;
	skip_space(parsing);
	parsing->depth++;
	err = take_content(parsing, *ret_index);
	parsing->depth--;
	return err;
}

int json_tree_parse(const char *text, size_t size, struct json_tree **ret_tree, struct error *error)
{
	struct json_tree *tree;
	struct parsing parsing = {.begin = text, .at = text, .end = text + size, .error = error};
	uint32_t root;
	int err;

	if (size > JSON_SIZE_MAX)
		return error_set(error, EFBIG, "larger than %u MiB", JSON_SIZE_MAX >> 20);
	tree = calloc(1, sizeof(*tree));
	if (tree)
		tree->texts = malloc(size + 2);
	if (!tree || !tree->texts) {
		free(tree);
		return error_set(error, ENOMEM, "out of memory");
	}
	tree->texts[tree->text_size++] = '\0';
	parsing.tree = tree;
	err = take_value(&parsing, 0, &root);
	skip_space(&parsing);
	if (err == 0 && parsing.at < parsing.end)
		err = fail(&parsing, "nothing more");
	if (err < 0) {
		json_tree_free(tree);
		return err;
	}
	*ret_tree = tree;
	return 0;
}

void json_tree_free(struct json_tree *tree)
{
	if (!tree)
		return;
	array_free(&tree->values);
	free(tree->texts);
	free(tree);
}

/* ---- reading ---- */

const struct json_value *json_tree_root(const struct json_tree *tree)
{
	return &tree->values.items[0];
}

enum json_kind json_kind_of(const struct json_value *value)
{
	return value ? value->kind : JSON_NULL;
}

static const struct json_value *value_at(const struct json_value *value, uint32_t index)
{
	return index == NO_VALUE ? NULL : &value->tree->values.items[index];
}

const struct json_value *json_first(const struct json_value *value)
{
	return value ? value_at(value, value->first) : NULL;
}

const struct json_value *json_next(const struct json_value *value)
{
	return value ? value_at(value, value->next) : NULL;
}

const char *json_key(const struct json_value *value)
{
	return value ? value->tree->texts + value->key : "";
}

const struct json_value *json_find(const struct json_value *value, const char *key)
{
	if (json_kind_of(value) != JSON_OBJECT)
		return NULL;
	for (const struct json_value *member = json_first(value); member;
	     member = json_next(member))
		if (strcmp(json_key(member), key) == 0)
			return member;
	return NULL;
}

const char *json_string(const struct json_value *value)
{
	return json_kind_of(value) == JSON_STRING ? value->tree->texts + value->text : NULL;
}

bool json_number(const struct json_value *value, double *ret_number)
{
	if (json_kind_of(value) != JSON_NUMBER || !isfinite(value->number))
		return false;
	*ret_number = value->number;
	return true;
}

bool json_is_true(const struct json_value *value)
{
	return json_kind_of(value) == JSON_TRUE;
}
