// SPDX-License-Identifier: BSD-2-Clause
#include "export/graph/frame_label.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define ELLIPSIS "\xe2\x80\xa6"

static bool is_continuation(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t count_columns(const char *text)
{
	size_t columns = 0;

	for (; *text; text++)
		columns += !is_continuation(*text);
	return columns;
}

static bool is_word(char byte)
{
	return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || (unsigned char)byte >= 0x80;
}

static bool ends_in_operator(const char *start, size_t length)
{
	static const char word[] = "operator";
	size_t size = sizeof(word) - 1;

	return length >= size && !memcmp(start + length - size, word, size) &&
	       (length == size || !is_word(start[length - size - 1]));
}

/* Only what follows a name is its arguments or parameters: "(anonymous namespace)::f" and
 * "<T as Trait>::f" begin with something else, and the signs of "operator<" and "operator()" are
 * part of the name. */
static bool opens_parameters(const char *name, const char *at)
{
	size_t length = (size_t)(at - name), word = length;

	if (!length || (*at != '<' && *at != '('))
		return false;
	while (word && !is_word(name[word - 1]))
		word--;
	if (ends_in_operator(name, word))
		return word < length;
	return word == length || at[-1] == '>';
}

/* The length of the name before the file in "work (app.py)", as names of Python have it; 0: another
 * one. */
static size_t length_before_file(const char *name)
{
	size_t length = strcspn(name, " "), size = strlen(name);

	if (!length || strncmp(name + length, " (", 2) != 0 || name[size - 1] != ')')
		return 0;
	return length + 2 + strcspn(name + length + 2, "()") == size - 1 ? length : 0;
}

/* Without arguments and template parameters, or the file of a name of Python; the name as it is
 * where they do not close. */
static void strip_parameters(char *dst, size_t size, const char *name)
{
	size_t length = length_before_file(name), depth = 0;

	if (length) {
		snprintf(dst, size, "%.*s", (int)(length < size ? length : size - 1), name);
		return;
	}
	for (const char *at = name; *at && length + 1 < size; at++) {
		if (depth) {
			if (*at == '<' || *at == '(')
				depth++;
			/* "->" closes nothing. */
			else if ((*at == '>' && at[-1] != '-') || *at == ')')
				depth--;
		} else if (opens_parameters(name, at)) {
			depth = 1;
		} else {
			dst[length++] = *at;
		}
	}
	dst[length] = '\0';
	if (depth)
		snprintf(dst, size, "%s", name);
}

/* "libz.so.1", "pool.py": of a file, its begin says more. */
static bool is_file_suffix(const char *rest)
{
	static const char *const suffixes[] = {"so", "py", "cpython"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t length = strlen(suffixes[i]);

		if (!strncmp(rest, suffixes[i], length) && !is_word(rest[length]))
			return true;
	}
	return false;
}

/* What compilers append to the names of copies of a function: "f.isra.0". */
static bool is_clone_suffix(const char *rest)
{
	static const char *const suffixes[] = {"part", "isra",	   "constprop",
					       "cold", "lto_priv", "llvm"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (!strncmp(rest, suffixes[i], strlen(suffixes[i])))
			return true;
	return (*rest >= '0' && *rest <= '9') || is_file_suffix(rest);
}

/* The longest end that begins with a component and has at most so many columns; NULL: none. */
static const char *fitting_end(const char *name, size_t columns)
{
	for (const char *at = name; *at; at++) {
		bool begins = (at[0] == ':' && at[1] == ':') || at[0] == '.' || at[0] == '/';
		const char *rest = at + (at[0] == ':' ? 2 : 1);

		if (begins && at > name && *rest && !is_clone_suffix(rest) &&
		    count_columns(rest) <= columns)
			return rest;
	}
	return NULL;
}

char *frame_label(char *dst, size_t size, const char *name, size_t columns)
{
	char shorter[4096];
	const char *end;
	size_t length = 0;

	dst[0] = '\0';
	if (columns < FRAME_LABEL_MIN)
		return dst;
	if (count_columns(name) > columns) {
		strip_parameters(shorter, sizeof(shorter), name);
		name = shorter;
	}
	if (count_columns(name) <= columns) {
		snprintf(dst, size, "%s", name);
		return dst;
	}
	end = fitting_end(name, columns - 1);
	if (end) {
		snprintf(dst, size, "%s%s", ELLIPSIS, end);
		return dst;
	}
	for (size_t left = columns - 1; name[length] && (left || is_continuation(name[length]));
	     length++)
		left -= !is_continuation(name[length + 1]);
	snprintf(dst, size, "%.*s%s", (int)length, name, ELLIPSIS);
	return dst;
}
