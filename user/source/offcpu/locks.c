// SPDX-License-Identifier: BSD-2-Clause
/* The source of locks: what the off-CPU source adds up when this kind is wanted. */
#include <errno.h>
#include <stdlib.h>

#include "base/unused.h"
#include "source/source.h"
#include "source/source_table.h"

struct source {
	char none;
};

static void locks_choose(_unused_ struct pkbpf_bpf *skeleton, _unused_ bool wanted)
{
}

static int locks_configure(_unused_ struct session *session,
			   _unused_ const struct source_options *options,
			   struct source **ret_source, struct error *error)
{
	*ret_source = calloc(1, sizeof(**ret_source));
	return *ret_source ? 0 : error_set(error, ENOMEM, "cannot prepare locks: out of memory");
}

static int locks_attach(_unused_ struct source *source, _unused_ struct error *error)
{
	return 0;
}

static void locks_detach(_unused_ struct source *source)
{
}

static void locks_free(struct source *source)
{
	free(source);
}

const struct source_ops source_locks = {
	.kind = PKBPF_PROFILE_LOCKS,
	.name = "locks",
	.summary = "waits for locks of programs, by lock and holder; includes offcpu",
	.by_request = true,
	.included_kinds = 1U << PKBPF_PROFILE_OFFCPU,
	.choose = locks_choose,
	.configure = locks_configure,
	.attach = locks_attach,
	.detach = locks_detach,
	.free = locks_free,
};
