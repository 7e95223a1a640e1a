/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of a request, which anybody may have sent. */
#ifndef PKBPF_WEB_WEB_QUERY_H
#define PKBPF_WEB_WEB_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "rows/resource_rows.h"

#define WEB_NAME_SIZE 256
/* 0 is a time: the beginning of 1970, and of all history. */
#define WEB_NO_TIME (-1)

struct web_query {
	int64_t now_unix_ns;
	int64_t from_unix_ns, to_unix_ns;	    /* WEB_NO_TIME: not given */
	int64_t base_from_unix_ns, base_to_unix_ns; /* WEB_NO_TIME: not given */
	uint64_t step_ns;			    /* 0: not given */
	uint32_t seconds;			    /* 0: not given */
	bool past;
	bool has_kind;
	enum pkbpf_profile_kind kind;
	uint32_t pid; /* 0: any */
	char comm[WEB_NAME_SIZE], container[WEB_NAME_SIZE], format[32], figure[128], level[16],
		base[16];
	bool has_by;
	enum rows_by by;
	uint32_t top; /* 0: not given */
};

void web_query_init(struct web_query *query, int64_t now_unix_ns);
/* -EINVAL with the sentence: unknown name, or a value that does not fit. */
int web_query_set(struct web_query *query, const char *name, const char *value,
		  struct error *error);

#endif
