// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX 2, which is a library: CUDA up to 12.8 and PyTorch up to 2.4 have it. Version 3 has headers
 * only, and calls nothing unless a tool was there when the program began to mark.
 *
 * Ranges that have a start and an end by number are not here: their numbers are known at the return
 * alone.
 */
#include "source/regions/library_marks.h"

#include <pkbpf/span.h>

#include "base/array.h"

#define NVTX(function)                                                                             \
	{                                                                                          \
		.library = "libnvToolsExt*", .glob = (function)                                    \
	}

static const struct library_mark marks[] = {
	{NVTX("nvtxRangePushA"), "nvtx", PKBPF_SITE_ENTER, 0, false},
	{NVTX("nvtxRangePushEx"), "nvtx", PKBPF_SITE_ENTER, 0, true},
	{NVTX("nvtxDomainRangePushEx"), "nvtx", PKBPF_SITE_ENTER, 1, true},
	{NVTX("nvtxRangePop"), "nvtx", PKBPF_SITE_LEAVE, 0, false},
	{NVTX("nvtxDomainRangePop"), "nvtx", PKBPF_SITE_LEAVE, 0, false},
};

const struct library_mark *library_mark_at(size_t index)
{
	return index < ARRAY_SIZE(marks) ? &marks[index] : NULL;
}
