// SPDX-License-Identifier: BSD-2-Clause
/* Knows the probes of programs that come with some. */
#include "source/regions/usdt_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Those that are hit more often than a program waits or works for a user are not here: locks that
 * are taken, pages that are read, methods that are called. */
static const struct usdt_pair pairs[] = {
	{"query", "postgresql", "query__start", {"query__done"}, USDT_THREAD},
	{"query-parse", "postgresql", "query__parse__start", {"query__parse__done"}, USDT_THREAD},
	{"query-rewrite",
	 "postgresql",
	 "query__rewrite__start",
	 {"query__rewrite__done"},
	 USDT_THREAD},
	{"query-plan", "postgresql", "query__plan__start", {"query__plan__done"}, USDT_THREAD},
	{"query-execute",
	 "postgresql",
	 "query__execute__start",
	 {"query__execute__done"},
	 USDT_THREAD},
	{"transaction",
	 "postgresql",
	 "transaction__start",
	 {"transaction__commit", "transaction__abort"},
	 USDT_THREAD},
	{"sort", "postgresql", "sort__start", {"sort__done"}, USDT_THREAD},
	{"lock-wait", "postgresql", "lock__wait__start", {"lock__wait__done"}, USDT_THREAD},
	{"lwlock-wait", "postgresql", "lwlock__wait__start", {"lwlock__wait__done"}, USDT_THREAD},
	{"checkpoint", "postgresql", "checkpoint__start", {"checkpoint__done"}, USDT_THREAD},
	{"gc", "hotspot", "gc__begin", {"gc__end"}, USDT_THREAD},
	{"vm-operation", "hotspot", "vmops__begin", {"vmops__end"}, USDT_THREAD},
	{"safepoint", "hs_private", "safepoint__begin", {"safepoint__end"}, USDT_THREAD},
	{"monitor-wait",
	 "hotspot",
	 "monitor__contended__enter",
	 {"monitor__contended__entered"},
	 USDT_THREAD},
	{"park", "hotspot", "thread__park__begin", {"thread__park__end"}, USDT_THREAD},
	{"jit-compile", "hotspot", "method__compile__begin", {"method__compile__end"}, USDT_THREAD},
	{"gc", "python", "gc__start", {"gc__done"}, USDT_THREAD},
	{"import",
	 "python",
	 "import__find__load__start",
	 {"import__find__load__done"},
	 USDT_THREAD},
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
	*ret_pair = (struct usdt_pair){region, text, begin, {end + 2}, (uint8_t)id};
	return true;
}

enum usdt_role usdt_pair_role(const struct usdt_pair *pair, const char *provider, const char *name)
{
	if (strcmp(pair->provider, provider) != 0)
		return USDT_NONE;
	if (strcmp(pair->begin, name) == 0)
		return USDT_BEGIN;
	for (size_t i = 0; i < USDT_PAIR_ENDS && pair->ends[i]; i++)
		if (strcmp(pair->ends[i], name) == 0)
			return USDT_END;
	return USDT_NONE;
}
