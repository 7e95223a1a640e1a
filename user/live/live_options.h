/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a capture: targets, kinds of events, and how events are processed. */
#ifndef PKBPF_LIVE_LIVE_OPTIONS_H
#define PKBPF_LIVE_LIVE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "live/invoking_user.h"
#include "live/live_gpu.h"
#include "live/live_targets.h"
#include "source/source_options.h"

struct live_options {
	struct live_targets targets;
	uint32_t kinds_mask; /* 1 << enum pkbpf_profile_kind */
	uint32_t frequency_hz;
	uint64_t duration_ns; /* 0: until stopped or the exit of all targets */
	uint64_t every_ns;    /* length of an interval; 0: all is one */
	/* the length of the first two intervals, for who waits to see something: an interval is
	 * handed on when the one after it ends; 0: like the others */
	uint64_t first_ns;
	/* without an end beside what it measures: it looks rarely, and page faults have fewer
	 * stacks */
	bool sparing;
	uint64_t slice_ns; /* intervals consist of slices of this length; 0: each is one */
	/* single events are kept, too: CPU samples, and waits and requests of this length or more;
	 * 0: none */
	uint64_t trace_ns;
	bool user_only, kernel_only;
	enum pkbpf_unwind_mode unwind_mode;
	enum pkbpf_python_mode python_mode;
	uint64_t unwind_table_bytes; /* 0: the default */
	uint64_t max_memory_bytes;   /* of the program and its BPF maps; 0: no limit */
	struct source_options sources;
	bool want_resources; /* of every thread: CPU time, memory, I/O */
	bool want_counters;  /* of the CPUs: instructions, cycles, cache, branches */
	enum live_gpu_mode gpu;
	bool per_thread; /* keep the threads of a process separate */
	bool no_inline, lines;
	bool python_calls, python_lines;  /* counted inside the Python programs of a command */
	bool jvm_map;			  /* asks JVMs for the names of their compiled code */
	bool debuginfod;		  /* asks servers for debug files, after the interval */
	uint64_t debuginfod_limit_ns;	  /* 0: the default */
	const struct invoking_user *user; /* as whom a command runs; NULL: as ourselves */
	const struct log *log;		  /* NULL: silent */
};

/* The defaults: CPU samples of the whole host. */
void live_options_init(struct live_options *options);
void live_options_done(struct live_options *options);

#endif
