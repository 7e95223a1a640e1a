// SPDX-License-Identifier: BSD-2-Clause
/* The options of the source of calls of GPU libraries. */
#include "source/gpu_calls/gpu_call_options.h"

#include "source/source_options.h"

const struct option_row gpu_call_option_rows[] = {
	{0, "gpu-calls", NULL, "calls of CUDA and HIP: launches, copies, memory, waits, by stack",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_FLAG,
	 OPTION_AT(struct source_options, gpu_calls.wanted),
	 .text = "Probes on libcudart, libcuda, libamdhip64, and on programs that have one of them "
		 "linked in, also in processes that run already: nothing is injected. All calls "
		 "are counted, with their bytes, time and errors; the stacks of many calls are "
		 "read of a share, each for as many as it stands for. Launches have a probe at "
		 "their entry only: their time and errors are not known. Of a run-time that calls "
		 "the driver, the outer call counts. Needs x86-64 and Linux 5.15."},
	{.name = NULL},
};
