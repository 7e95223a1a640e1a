// SPDX-License-Identifier: BSD-2-Clause
/* Tells of recordings that were cut off or damaged. */
#include "cli/recording_notes.h"

#include <inttypes.h>

#include "rows/human.h"

/* In percent of the interval: shorter gaps change no figure that is shown. */
#define GAP_PERCENT 1

static void note_file(const struct recording_source *source, struct console *console)
{
	const struct recording_reader *reader = &source->reader;

	if (reader->cut_off)
		console_error(console, "%s is cut off: it ends after %zu whole slice%s",
			      source->path, reader->blocks.count,
			      reader->blocks.count == 1 ? "" : "s");
	if (reader->missing_blocks)
		console_error(console, "%s is damaged: %" PRIu64 " slice%s cannot be found",
			      source->path, reader->missing_blocks,
			      reader->missing_blocks == 1 ? "" : "s");
	else if (reader->damaged_bytes && !reader->index_damaged)
		console_error(console, "%s is damaged: %" PRIu64 " bytes belong to no slice",
			      source->path, reader->damaged_bytes);
	if (reader->index_damaged)
		console_error(console,
			      "%s is damaged: its index cannot be read, more slices may be "
			      "missing than the %zu found",
			      source->path, reader->blocks.count);
}

/* Shares are those of the whole interval. */
static void note_gaps(const struct recording_interval *interval, struct console *console)
{
	uint64_t whole_ns = interval->end_ns - interval->begin_ns;
	char gaps[HUMAN_SIZE], whole[HUMAN_SIZE];

	if (interval->gaps_ns < whole_ns / 100 * GAP_PERCENT || !interval->gaps_ns)
		return;
	console_error(console,
		      "nothing was recorded for %s of the %s: rates and shares of the interval are "
		      "too small by as much",
		      human_time(gaps, interval->gaps_ns), human_time(whole, whole_ns));
}

void recording_notes_write(const struct recording_set *set,
			   const struct recording_interval *interval, struct console *console)
{
	array_foreach(&set->sources, source)
		note_file(source, console);
	if (interval->damaged)
		console_error(console, "%zu damaged slice%s left out", interval->damaged,
			      interval->damaged == 1 ? "" : "s");
	note_gaps(interval, console);
}
