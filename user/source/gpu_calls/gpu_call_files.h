/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with functions of GPU libraries, and their probes. */
#ifndef PKBPF_SOURCE_GPU_CALLS_GPU_CALL_FILES_H
#define PKBPF_SOURCE_GPU_CALLS_GPU_CALL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/session/session.h"
#include "source/regions/region_files.h"
#include "source/uprobe_links.h"

struct gpu_call_files { /* zero-initialized, but for the session and how probes are linked */
	struct session *session;
	struct uprobe_links links;
	struct region_files probed;
	uint32_t site_count, report_count;
	uint64_t last_ended_ns;
	bool is_attached;
	bool has_begun; /* the interval: what is mapped from now on had calls that were missed */
};

/* Probes the files of the command, of targets, and of the usual places. */
void gpu_call_files_begin(struct gpu_call_files *files);
/* Looks at files that targets have mapped since the last time. */
void gpu_call_files_look(struct gpu_call_files *files);
void gpu_call_files_end(struct gpu_call_files *files);
void gpu_call_files_done(struct gpu_call_files *files);

#endif
