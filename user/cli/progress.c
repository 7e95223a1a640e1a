// SPDX-License-Identifier: BSD-2-Clause
/* Formats the progress line. */
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/counter_table.h"

void progress_init(struct progress *progress, struct console *console, bool wanted, uint64_t now_ns,
		   uint64_t duration_ns)
{
	*progress = (struct progress){
		.console = console,
		.shown = wanted && console_is_terminal(STDERR_FILENO),
		.start_ns = now_ns,
		.duration_ns = duration_ns,
		.next_ns = now_ns + NS_PER_SECOND,
	};
}

void progress_show_start(struct progress *progress)
{
	if (progress->shown)
		console_status(progress->console, "starting (Ctrl-C to stop)");
}

bool progress_is_due(const struct progress *progress, uint64_t now_ns)
{
	return progress->shown && now_ns >= progress->next_ns;
}

uint64_t progress_lost(const uint64_t counters[PKBPF_COUNTER_COUNT])
{
	uint64_t lost = 0;

	for (int i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (PKBPF_IS_LOSS(counter_table[i].loss))
			lost += counters[i];
	}
	return lost;
}

void progress_format_elapsed(uint64_t elapsed_ns, char *ret_text, size_t size)
{
	uint64_t seconds = elapsed_ns / NS_PER_SECOND;

	if (seconds < 60)
		snprintf(ret_text, size, "%" PRIu64 " s", seconds);
	else if (seconds < 3600)
		snprintf(ret_text, size, "%" PRIu64 ":%02" PRIu64 " min", seconds / 60,
			 seconds % 60);
	else
		snprintf(ret_text, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " h",
			 seconds / 3600, seconds / 60 % 60, seconds % 60);
}

void progress_show(struct progress *progress, uint64_t now_ns,
		   const uint64_t counters[PKBPF_COUNTER_COUNT])
{
	char elapsed[32], duration[40] = "", line[160];

	progress_format_elapsed(now_ns - progress->start_ns, elapsed, sizeof(elapsed));
	if (progress->duration_ns) {
		strcpy(duration, " of ");
		progress_format_elapsed(progress->duration_ns, duration + 4, sizeof(duration) - 4);
	}
	snprintf(line, sizeof(line),
		 "profiling: %s%s, %" PRIu64 " samples, %" PRIu64 " lost (Ctrl-C to stop)", elapsed,
		 duration, counters[PKBPF_COUNTER_CPU_RECORDED], progress_lost(counters));
	console_status(progress->console, line);
	while (progress->next_ns <= now_ns)
		progress->next_ns += NS_PER_SECOND;
}

void progress_clear(struct progress *progress)
{
	console_status(progress->console, "");
}
