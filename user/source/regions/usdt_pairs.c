// SPDX-License-Identifier: BSD-2-Clause
/* Knows the probes of programs that come with some. */
#include "source/regions/usdt_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Arguments of functions that are in registers on x86-64. */
#define REGISTER_ARGUMENTS 6

/* Those that are hit more often than a program waits or works for a user are not here: locks that
 * are taken, pages that are read, methods that are called. Nor are Python's garbage collection and
 * imports: hundreds of them, in each program, hide the regions that the program marks. */
static const struct usdt_pair pairs[] = {
	{"query", "postgresql", "query__start", {"query__done"}, USDT_THREAD, false},
	{"query-parse",
	 "postgresql",
	 "query__parse__start",
	 {"query__parse__done"},
	 USDT_THREAD,
	 false},
	{"query-rewrite",
	 "postgresql",
	 "query__rewrite__start",
	 {"query__rewrite__done"},
	 USDT_THREAD,
	 false},
	{"query-plan",
	 "postgresql",
	 "query__plan__start",
	 {"query__plan__done"},
	 USDT_THREAD,
	 false},
	{"query-execute",
	 "postgresql",
	 "query__execute__start",
	 {"query__execute__done"},
	 USDT_THREAD,
	 false},
	{"transaction",
	 "postgresql",
	 "transaction__start",
	 {"transaction__commit", "transaction__abort"},
	 USDT_THREAD,
	 false},
	{"sort", "postgresql", "sort__start", {"sort__done"}, USDT_THREAD, false},
	{"lock-wait", "postgresql", "lock__wait__start", {"lock__wait__done"}, USDT_THREAD, false},
	{"lwlock-wait",
	 "postgresql",
	 "lwlock__wait__start",
	 {"lwlock__wait__done"},
	 USDT_THREAD,
	 false},
	{"checkpoint", "postgresql", "checkpoint__start", {"checkpoint__done"}, USDT_THREAD, false},
	{"gc", "hotspot", "gc__begin", {"gc__end"}, USDT_THREAD, false},
	{"vm-operation", "hotspot", "vmops__begin", {"vmops__end"}, USDT_THREAD, false},
	{"safepoint", "hs_private", "safepoint__begin", {"safepoint__end"}, USDT_THREAD, false},
	{"monitor-wait",
	 "hotspot",
	 "monitor__contended__enter",
	 {"monitor__contended__entered"},
	 USDT_THREAD,
	 false},
	{"park", "hotspot", "thread__park__begin", {"thread__park__end"}, USDT_THREAD, false},
	{"jit-compile",
	 "hotspot",
	 "method__compile__begin",
	 {"method__compile__end"},
	 USDT_THREAD,
	 false},
};

const struct usdt_pair *usdt_pair_at(size_t index)
{
	return index < ARRAY_SIZE(pairs) ? &pairs[index] : NULL;
}

bool usdt_pair_parse(char *text, const char *region, struct usdt_pair *ret_pair)
{
	char *begin = strchr(text, ':'), *end = begin ? strstr(begin, "..") : NULL,
	     *at = end ? strchr(end, '@') : NULL, *rest = NULL;
	unsigned long id = USDT_THREAD;

	if (!end || end == begin + 1 || begin == text || !end[2])
		return false;
	if (at)
		id = strtoul(at + 1, &rest, 10);
	if (at && (at == end + 2 || rest == at + 1 || *rest || id >= USDT_THREAD))
		return false;
	*begin++ = '\0';
	*end = '\0';
	if (at)
		*at = '\0';
	*ret_pair = (struct usdt_pair){.region = region,
				       .provider = text,
				       .begin = begin,
				       .ends = {end + 2},
				       .id = (uint8_t)id};
	return true;
}

bool function_pair_parse(char *text, const char *region, struct usdt_pair *ret_pair)
{
	char *end = strstr(text, ".."), *at = end ? strrchr(end, '@') : NULL, *rest = NULL;
	char *colon = end ? memchr(text, ':', (size_t)(end - text)) : NULL;
	unsigned long id = USDT_THREAD;

	/* A name of C++ has colons in pairs. */
	if (colon && colon[1] == ':')
		colon = NULL;
	if (!end || end == text || (colon && (colon == text || colon + 1 == end)) || !end[2])
		return false;
	if (at)
		id = strtoul(at + 1, &rest, 10);
	if (at && (at == end + 2 || rest == at + 1 || *rest || id >= REGISTER_ARGUMENTS))
		return false;
	if (colon)
		*colon = '\0';
	*end = '\0';
	if (at)
		*at = '\0';
	*ret_pair = (struct usdt_pair){.region = region,
				       .provider = colon ? text : NULL,
				       .begin = colon ? colon + 1 : text,
				       .ends = {end + 2},
				       .id = (uint8_t)id,
				       .of_functions = true};
	return true;
}

enum usdt_role usdt_pair_role(const struct usdt_pair *pair, const char *provider, const char *name)
{
	if (pair->of_functions || strcmp(pair->provider, provider) != 0)
		return USDT_NONE;
	if (strcmp(pair->begin, name) == 0)
		return USDT_BEGIN;
	for (size_t i = 0; i < USDT_PAIR_ENDS && pair->ends[i]; i++)
		if (strcmp(pair->ends[i], name) == 0)
			return USDT_END;
	return USDT_NONE;
}
