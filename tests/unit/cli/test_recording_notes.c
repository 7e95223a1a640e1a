// SPDX-License-Identifier: BSD-2-Clause
/* What is said of recordings that are cut off, damaged, or have gaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "cli/recording_notes.h"

/* Of one file with so many slices. */
static void assert_noted(const struct recording_reader *reader, size_t slices,
			 const struct recording_interval *interval, const char *text)
{
	struct recording_source source = {.path = "a.pkbpf", .reader = *reader};
	struct recording_set set = {.sources = {&source, 1, 1}};
	struct console console = {.quiet = true};
	char *written = NULL;
	size_t size;

	source.reader.blocks.count = slices;
	console.out = open_memstream(&written, &size);
	recording_notes_write(&set, interval, &console);
	fclose(console.out);
	assert_string_equal(written, text);
	free(written);
}

static const struct recording_interval whole = {.begin_ns = 5 * NS_PER_SECOND,
						.end_ns = 105 * NS_PER_SECOND};

static void a_whole_recording_needs_no_word(void **state)
{
	assert_noted(&(struct recording_reader){0}, 3, &whole, "");
}

static void what_is_cut_off_or_damaged_is_told(void **state)
{
	assert_noted(&(struct recording_reader){.cut_off = true}, 1, &whole,
		     "pkbpf: a.pkbpf is cut off: it ends after 1 whole slice\n");
	assert_noted(&(struct recording_reader){.cut_off = true}, 0, &whole,
		     "pkbpf: a.pkbpf is cut off: it ends after 0 whole slices\n");
	assert_noted(&(struct recording_reader){.missing_blocks = 1}, 3, &whole,
		     "pkbpf: a.pkbpf is damaged: 1 slice cannot be found\n");
	assert_noted(&(struct recording_reader){.missing_blocks = 2}, 3, &whole,
		     "pkbpf: a.pkbpf is damaged: 2 slices cannot be found\n");
	assert_noted(&(struct recording_reader){.damaged_bytes = 77}, 3, &whole,
		     "pkbpf: a.pkbpf is damaged: 77 bytes belong to no slice\n");
	/* The bytes are those of the slices that are missing, or of the index. */
	assert_noted(&(struct recording_reader){.damaged_bytes = 77, .missing_blocks = 2}, 3,
		     &whole, "pkbpf: a.pkbpf is damaged: 2 slices cannot be found\n");
	assert_noted(&(struct recording_reader){.damaged_bytes = 77, .index_damaged = true}, 3,
		     &whole,
		     "pkbpf: a.pkbpf is damaged: its index cannot be read, more slices may be "
		     "missing than the 3 found\n");
}

static void slices_that_were_left_out_are_counted(void **state)
{
	struct recording_interval interval = whole;

	interval.damaged = 1;
	assert_noted(&(struct recording_reader){0}, 3, &interval,
		     "pkbpf: 1 damaged slice left out\n");
	interval.damaged = 4;
	assert_noted(&(struct recording_reader){0}, 3, &interval,
		     "pkbpf: 4 damaged slices left out\n");
}

/* From one percent of the interval on. */
static void gaps_that_change_shares_are_told(void **state)
{
	struct recording_interval interval = whole;

	interval.gaps_ns = NS_PER_SECOND - 1;
	assert_noted(&(struct recording_reader){0}, 3, &interval, "");
	interval.gaps_ns = 25 * NS_PER_SECOND;
	assert_noted(
		&(struct recording_reader){0}, 3, &interval,
		"pkbpf: nothing was recorded for 25.0 s of the 1 min 40 s: rates and shares of the "
		"interval are too small by as much\n");
	/* One too short for a percent has no gap at all. */
	interval = (struct recording_interval){.begin_ns = 5, .end_ns = 50};
	assert_noted(&(struct recording_reader){0}, 3, &interval, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_recording_needs_no_word),
		cmocka_unit_test(what_is_cut_off_or_damaged_is_told),
		cmocka_unit_test(slices_that_were_left_out_are_counted),
		cmocka_unit_test(gaps_that_change_shares_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
