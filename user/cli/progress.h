/* SPDX-License-Identifier: BSD-2-Clause */
/* Progress line, once per second: elapsed time, samples, losses. */
#ifndef PKBPF_CLI_PROGRESS_H
#define PKBPF_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/counter.h>

#include "cli/console.h"

struct progress {
	struct console *console;
	bool shown; /* wanted, and stderr is a terminal */
	uint64_t start_ns, next_ns, duration_ns;
};

/* duration_ns: 0: until stopped. */
void progress_init(struct progress *progress, struct console *console, bool wanted, uint64_t now_ns,
		   uint64_t duration_ns);
/* Until the recording begins. */
void progress_show_start(struct progress *progress);
/* Whether another line is due. */
bool progress_is_due(const struct progress *progress, uint64_t now_ns);
void progress_show(struct progress *progress, uint64_t now_ns,
		   const uint64_t counters[PKBPF_COUNTER_COUNT]);
/* Removes the line. */
void progress_clear(struct progress *progress);

/* Sum of the counters that stand for lost samples. */
uint64_t progress_lost(const uint64_t counters[PKBPF_COUNTER_COUNT]);
/* "12 s", "3:07 min", "1:02:33 h". */
void progress_format_elapsed(uint64_t elapsed_ns, char *ret_text, size_t size);

#endif
