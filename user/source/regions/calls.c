// SPDX-License-Identifier: BSD-2-Clause
/* The source of calls by stack: what the source of regions adds up when this kind is wanted. */
#include <errno.h>
#include <stdlib.h>

#include "base/unused.h"
#include "source/source.h"
#include "source/source_options.h"
#include "source/source_table.h"

struct source {
	char none;
};

static void calls_choose(_unused_ struct pkbpf_bpf *skeleton, _unused_ bool wanted)
{
}

static int calls_configure(_unused_ struct session *session, const struct source_options *options,
			   struct source **ret_source, struct error *error)
{
	if (!options->regions.function_count && !options->regions.syscall_count &&
	    !options->regions.kernel_count)
		return error_set(error, EINVAL,
				 "calls are recorded by stack with --function only: name the "
				 "functions to be seen");
	*ret_source = calloc(1, sizeof(**ret_source));
	return *ret_source
		       ? 0
		       : error_set(error, ENOMEM, "cannot prepare calls by stack: out of memory");
}

static int calls_attach(_unused_ struct source *source, _unused_ struct error *error)
{
	return 0;
}

static void calls_detach(_unused_ struct source *source)
{
}

static void calls_free(struct source *source)
{
	free(source);
}

const struct source_ops source_calls = {
	.kind = PKBPF_PROFILE_CALLS,
	.name = "calls",
	.summary = "calls of --function and their time, by calling stack",
	.by_request = true,
	.choose = calls_choose,
	.configure = calls_configure,
	.attach = calls_attach,
	.detach = calls_detach,
	.free = calls_free,
};
