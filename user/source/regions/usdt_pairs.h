/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of statically defined probes that make a region. */
#ifndef PKBPF_SOURCE_REGIONS_USDT_PAIRS_H
#define PKBPF_SOURCE_REGIONS_USDT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USDT_PAIR_ENDS 2
#define USDT_THREAD    UINT8_MAX /* `id`: both are in one thread */

struct usdt_pair {
	const char *region; /* its name */
	/* With of_functions: the library, NULL the program itself, and the function whose calls
	 * begin it; those of the other one end it. */
	const char *provider, *begin;
	const char *ends[USDT_PAIR_ENDS]; /* any of them; NULL: no more */
	uint8_t id;			  /* argument of both that tells regions apart, from 0 */
	bool of_functions;		  /* no probes of the program */
};

/* The pairs that are always looked for; NULL at the end. */
const struct usdt_pair *usdt_pair_at(size_t index);

/* Parses "PROVIDER:BEGIN..END" or "PROVIDER:BEGIN..END@N" in place; text is kept. false: it is
 * nothing like that. */
bool usdt_pair_parse(char *text, const char *region, struct usdt_pair *ret_pair);

/* The same of "[LIB:]FUNCTION..FUNCTION" or with "@N", N below 6. */
bool function_pair_parse(char *text, const char *region, struct usdt_pair *ret_pair);

enum usdt_role { USDT_NONE, USDT_BEGIN, USDT_END };
/* What a probe is in a pair. */
enum usdt_role usdt_pair_role(const struct usdt_pair *pair, const char *provider, const char *name);

#endif
