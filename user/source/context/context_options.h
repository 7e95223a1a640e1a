/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the source of thread contexts. */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_OPTIONS_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/context.h>

#include "base/option_row.h"

struct source_options;

struct context_options {
	/* Stacks begin with the value of this label; NULL: they do not. Borrowed, as all keys. */
	const char *by_key;
	const char *keys[PKBPF_CONTEXT_LABELS];
	size_t key_count;
	const char *hashed[PKBPF_CONTEXT_LABELS];
	size_t hashed_count;
	uint64_t slow_ns;  /* requests that take as long are listed; UINT64_MAX: none are */
	size_t slow_count; /* at most */
};

/* The labels that are read. */
struct context_labels {
	const char *keys[PKBPF_CONTEXT_LABELS];
	size_t count;
	uint32_t hashed; /* bit mask */
};

void context_options_init(struct source_options *options);
bool context_options_want(const struct context_options *options);
/* The first one is that of --by label:KEY. -ERANGE, with the sentence: there are too many. */
int context_labels_choose(const struct context_options *options, struct context_labels *ret_labels,
			  struct error *error);

extern const struct option_row context_option_rows[];

#endif
