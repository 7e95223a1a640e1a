// SPDX-License-Identifier: BSD-2-Clause
/* The live source: memory that was not freed. It is what the records of the alloc source leave. */
#include <errno.h>
#include <stdlib.h>

#include "base/unused.h"
#include "source/source.h"
#include "source/source_table.h"

struct source {
	char none;
};

static void live_choose(_unused_ struct pkbpf_bpf *skeleton, _unused_ bool wanted)
{
}

static int live_configure(_unused_ struct session *session,
			  _unused_ const struct source_options *options, struct source **ret_source,
			  struct error *error)
{
	*ret_source = calloc(1, sizeof(**ret_source));
	return *ret_source ? 0
			   : error_set(error, ENOMEM, "cannot prepare live memory: out of memory");
}

static int live_attach(_unused_ struct source *source, _unused_ struct error *error)
{
	return 0;
}

static void live_detach(_unused_ struct source *source)
{
}

static void live_free(struct source *source)
{
	free(source);
}

const struct source_ops source_live = {
	.kind = PKBPF_PROFILE_LIVE,
	.name = "live",
	.summary = "bytes still allocated at the end, by stack; requires alloc",
	.by_request = true,
	.choose = live_choose,
	.configure = live_configure,
	.attach = live_attach,
	.detach = live_detach,
	.free = live_free,
};
