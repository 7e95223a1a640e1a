// SPDX-License-Identifier: BSD-2-Clause
#include "diff/clone_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* What stands for them in demangled names. */
#define CLONE " [clone "

/* Of GCC and LLVM; with a number behind it, but the part that is rarely run. */
static const struct {
	const char *word;
	bool needs_number;
} suffixes[] = {{".constprop", true}, {".isra", true},	{".part", true},  {".lto_priv", true},
		{".llvm", true},      {".cold", false}, {".ipa-cp", true}};

static bool ends_with(const char *name, size_t length, const char *end)
{
	size_t end_length = strlen(end);

	return length > end_length && memcmp(name + length - end_length, end, end_length) == 0;
}

/* Length without one suffix; the same: it has none. */
static size_t strip_one(const char *name, size_t length)
{
	size_t digits = length;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits && digits < length && name[digits - 1] == '.')
		digits--;
	else
		digits = length;
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		bool has_number = digits < length;

		if ((has_number || !suffixes[i].needs_number) &&
		    ends_with(name, digits, suffixes[i].word))
			return digits - strlen(suffixes[i].word);
	}
	return length;
}

static size_t strip_clone(const char *name, size_t length)
{
	size_t mark = strlen(CLONE);

	if (!length || name[length - 1] != ']')
		return length;
	for (size_t i = length - 1; i > 0; i--)
		if (i + mark <= length && memcmp(name + i, CLONE, mark) == 0)
			return i;
	return length;
}

size_t clone_name_length(const char *name)
{
	size_t length = strlen(name), before;

	do {
		before = length;
		length = strip_one(name, strip_clone(name, length));
	} while (length != before);
	return length;
}
