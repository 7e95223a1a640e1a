/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of a running capture, for the files of this folder. */
#ifndef PKBPF_LIVE_LIVE_CAPTURE_PRIVATE_H
#define PKBPF_LIVE_LIVE_CAPTURE_PRIVATE_H

#include "base/array.h"
#include "live/expected_samples.h"
#include "live/live_capture.h"
#include "live/live_disks.h"
#include "live/live_gpu.h"
#include "live/memory_limit.h"
#include "live/overhead_limit.h"
#include "profile/account/device_names.h"
#include "profile/aggregator.h"
#include "profile/own_code.h"
#include "source/source.h"

/* What is counted from the start of the capture on, as it was at a cut. */
struct live_edge {
	uint64_t sequence; /* of the slice that ends */
	uint64_t counters[PKBPF_COUNTER_COUNT];
	uint64_t cpu_ns, bpf_cpu_ns;
	struct machine_figures machine; /* of the slice alone, as this: */
	struct live_gpu_figures gpu;
	struct disk_list disks;
};

struct live_capture {
	struct live_capture_options options;
	struct mapped_file_table *files;
	struct process_table *processes;
	struct profile *profile; /* the last slice, once it is closed */
	struct aggregator *aggregator;
	struct own_code own_code;
	struct library_watch library_watch; /* for the sampler of allocations */
	struct event_sink sink;
	struct session *session;
	struct source_set *sources;
	struct symbolizer_options symbolizer_options;
	struct symbolizer *symbolizer;
	struct data_namer *data_namer;
	struct debuginfod *debuginfod; /* NULL: no servers are asked */
	bool reads_code;	       /* a piece of a perf map is still to be read */
	uint64_t code_names_dropped;   /* told in profiles so far */
	uint64_t next_forget_ns;       /* files are not forgotten before */
	uint64_t naming_end_ns;	       /* places get their names first, until then; 0: not begun */
	uint64_t sequence;	       /* of the slice that runs */
	bool was_taken;		       /* a slice, since processes were released */
	uint64_t next_release_ns;      /* symbol tables are kept until then */
	size_t files_released;	       /* how many mapped files there were at that time */
	size_t files_forgotten;	       /* how many there were left when some were last forgotten */
	struct memory_limit memory;
	uint64_t map_bytes, next_map_look_ns; /* of BPF maps, when they were last counted */
	struct overhead_limit overhead;
	uint64_t overhead_since_ns, overhead_cpu_ns; /* at the last look at it */
	struct pkbpf_shed_control shed;		     /* what the caller wants left out */
	ARRAY_OF(struct live_edge)
	edges; /* of slices that are not taken yet, but the first: before */
	struct expected_samples expected;
	struct device_names device_names;
	uint64_t note_devices_ns; /* not before */
	uint64_t start_ns, end_ns;
	int64_t start_unix_ns;
	uint64_t start_cpu_ns;	       /* of this program, until then */
	struct process_counts *counts; /* at the start; NULL: not wanted */
	struct live_machine machine;
	struct machine_figures last_figures; /* of the slice that ends with the capture */
	struct live_gpu gpu;
	struct live_gpu_figures last_gpu; /* of that slice, too */
	struct live_disks disks;
	struct disk_list last_disks;
};

/* Keeps the memory of a capture without an end within bounds. */
void live_memory_limit(struct live_capture *live);
/* Bytes of BPF maps, as they were counted some seconds ago. */
uint64_t live_memory_map_bytes(struct live_capture *live, uint64_t now_ns);
/* Between slices: gives back what is kept of processes that have ended, and symbol tables of
 * programs that no process runs any more. */
void live_memory_release(struct live_capture *live);
/* CPU time of this program and of those that read files for it. */
uint64_t live_cpu_ns(const struct live_capture *live);
/* Keeps what the capture costs within bounds. */
void live_overhead_begin(struct live_capture *live);
void live_overhead_look(struct live_capture *live);
/* Counts what the capture takes at its beginning. -ENOMEM: more than it may. */
int live_memory_begin(struct live_capture *live, struct error *error);
/* Those of the session and the steps that a limit of memory made necessary. */
void live_memory_counters(struct live_capture *live, uint64_t ret_counters[PKBPF_COUNTER_COUNT]);
/* What later events may name is not forgotten with the next step. */
void live_memory_keep_stacks(struct live_capture *live);

#endif
