// SPDX-License-Identifier: BSD-2-Clause
#include "diff/diff_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text_append.h"
#include "profile/kind_table.h"
#include "rows/human.h"

static bool is_time(uint32_t kind)
{
	return kind == PKBPF_PROFILE_CPU ||
	       kind_ops_of((enum pkbpf_profile_kind)kind)->weight == PROFILE_WEIGHT_NS;
}

bool diff_words_is_time(const struct diff_key *key)
{
	if (diff_level_is_gpu(key->level))
		return key->level == DIFF_GPU_KERNEL_TIME || key->level == DIFF_GPU_WAIT;
	return key->level == DIFF_REGION_COUNT ? false : is_time(key->kind);
}

static bool is_gpu_bytes(uint32_t level)
{
	return level == DIFF_GPU_COPIED || level == DIFF_GPU_ALLOCATED || level == DIFF_GPU_KEPT;
}

const char *diff_words_unit(const struct diff_key *key)
{
	return diff_words_is_time(key) ? "ns" : is_gpu_bytes(key->level) ? "bytes" : "events";
}

const char *diff_words_title(uint32_t kind)
{
	return kind == PKBPF_PROFILE_CALLS ? "Regions and calls"
					   : kind_ops_of((enum pkbpf_profile_kind)kind)->title;
}

static char *count_text(char text[DIFF_WORDS_SIZE], double value)
{
	char number[HUMAN_SIZE];

	if (value >= 1000)
		snprintf(text, DIFF_WORDS_SIZE, "%s", human_count(number, human_whole(value)));
	else
		snprintf(text, DIFF_WORDS_SIZE, "%.3g", value);
	return text;
}

char *diff_words_value(char text[DIFF_WORDS_SIZE], const struct diff_key *key, double value)
{
	char number[HUMAN_SIZE];

	if (is_gpu_bytes(key->level)) {
		snprintf(text, DIFF_WORDS_SIZE, "%s%s", value < 0 ? "-" : "",
			 human_bytes(number, human_whole(fabs(value))));
		return text;
	}
	return diff_words_is_time(key) || !is_time(key->kind)
		       ? diff_words_amount(text, key->kind, value)
		       : count_text(text, value);
}

char *diff_words_amount(char text[DIFF_WORDS_SIZE], uint32_t kind, double value)
{
	char number[HUMAN_SIZE];

	if (is_time(kind) && (value == 0 || value >= 1))
		snprintf(text, DIFF_WORDS_SIZE, "%s", human_time(number, human_whole(value)));
	else if (is_time(kind))
		snprintf(text, DIFF_WORDS_SIZE, "%.3f ns", value);
	else if (kind_ops_of((enum pkbpf_profile_kind)kind)->weight == PROFILE_WEIGHT_BYTES)
		snprintf(text, DIFF_WORDS_SIZE, "%s", human_bytes(number, human_whole(value)));
	else
		count_text(text, value);
	return text;
}

/* A ratio as signed percent, without its sign of unit. */
static void append_percent(char text[DIFF_WORDS_SIZE], double ratio)
{
	double percent = ratio * 100;

	text_append(text, DIFF_WORDS_SIZE, fabs(percent) < 100 ? "%+.1f" : "%+.0f", percent);
}

static void append_signed_value(char text[DIFF_WORDS_SIZE], const struct diff_key *key,
				double value)
{
	char number[DIFF_WORDS_SIZE];

	text_append(text, DIFF_WORDS_SIZE, "%s%s", value < 0 ? "-" : "+",
		    diff_words_value(number, key, fabs(value)));
}

char *diff_words_change(char text[DIFF_WORDS_SIZE], const struct diff_row *row)
{
	double base = row->sides[DIFF_BASE].value, new = row->sides[DIFF_NEW].value;

	text[0] = '\0';
	if (!(base > 0))
		return strcpy(text, new > 0 ? "new" : "-");
	if (!(new > 0))
		return strcpy(text, "gone");
	if (!row->has_ratio) {
		append_signed_value(text, &row->key, row->change);
		return text;
	}
	append_percent(text, row->ratio);
	text_append(text, DIFF_WORDS_SIZE, " %%");
	return text;
}

char *diff_words_interval(char text[DIFF_WORDS_SIZE], const struct diff_row *row)
{
	text[0] = '\0';
	if (row->evidence == DIFF_BY_NOTHING)
		return text;
	if (row->has_ratio) {
		append_percent(text, row->ratio_low);
		text_append(text, DIFF_WORDS_SIZE, " to ");
		append_percent(text, row->ratio_high);
		text_append(text, DIFF_WORDS_SIZE, " %%");
		return text;
	}
	append_signed_value(text, &row->key, row->low);
	text_append(text, DIFF_WORDS_SIZE, " to ");
	append_signed_value(text, &row->key, row->high);
	return text;
}

char *diff_words_share(char text[DIFF_WORDS_SIZE], const struct diff_row *row)
{
	/* Regions lie within each other. */
	if (diff_level_is_calls(row->key.level))
		return strcpy(text, "-");
	snprintf(text, DIFF_WORDS_SIZE, "%.1f -> %.1f %%", 100 * row->sides[DIFF_BASE].share,
		 100 * row->sides[DIFF_NEW].share);
	return text;
}

const char *diff_words_per(const struct diff_work *work)
{
	switch (work->per) {
	case DIFF_PER_SECOND:
		return "second";
	case DIFF_PER_RUN:
		return "run";
	case DIFF_PER_WORK:
		break;
	}
	return work->name;
}

const char *diff_words_per_call(const struct comparison *comparison)
{
	return comparison->kinds_mask & 1U << PKBPF_PROFILE_CALLS ? "; mean, p50 and p99 per call"
								  : "";
}

const char *diff_words_level(uint32_t level)
{
	static const char *const words[DIFF_LEVELS] = {
		[DIFF_ALL] = "all",
		[DIFF_PROCESS] = "process",
		[DIFF_CONTAINER] = "container",
		[DIFF_SELF] = "self",
		[DIFF_TOTAL] = "total",
		[DIFF_ALL_STACKS] = "all",
		[DIFF_STACK] = "stack",
		[DIFF_LOCK] = "lock",
		[DIFF_REGION_TIME] = "wall time",
		[DIFF_REGION_COUNT] = "count",
		[DIFF_REGION_MEAN] = "mean",
		[DIFF_REGION_P50] = "p50",
		[DIFF_REGION_P99] = "p99",
		[DIFF_REGION_MEASURED] = "calls",
		[DIFF_REGION_BUCKET] = "calls",
		[DIFF_REGION_LET_GO] = "calls",
		[DIFF_PLACE] = "at peak",
		[DIFF_GPU_LAUNCHES] = "launches",
		[DIFF_GPU_BLOCKS] = "blocks",
		[DIFF_GPU_KERNEL_TIME] = "GPU time",
		[DIFF_GPU_COPIED] = "copied",
		[DIFF_GPU_ALLOCATED] = "allocated",
		[DIFF_GPU_KEPT] = "not freed",
		[DIFF_GPU_WAIT] = "GPU wait",
	};

	return words[level];
}

static const char *plural_of(uint32_t level)
{
	static const char *const words[DIFF_LEVELS] = {
		[DIFF_PROCESS] = "processes",
		[DIFF_CONTAINER] = "containers",
		[DIFF_LOCK] = "locks",
		[DIFF_PLACE] = "places",
	};

	return words[level]		     ? words[level]
	       : diff_level_is_region(level) ? "regions"
	       : diff_level_is_gpu(level)    ? "GPU calls"
					     : "functions";
}

char *diff_words_counted(char text[DIFF_WORDS_SIZE], size_t count, uint32_t level)
{
	char number[HUMAN_SIZE];

	snprintf(text, DIFF_WORDS_SIZE, "%s", human_counted(number, count, plural_of(level)));
	return text;
}

void diff_words_side(char *text, size_t size, const struct measurement *side, const char *title)
{
	uint64_t length_ns = measurement_length_ns(side);
	char number[HUMAN_SIZE];

	snprintf(text, size, "%s", title);
	text_append(text, size, ": ");
	if (length_ns)
		text_append(text, size, "%s in ", human_time(number, length_ns));
	text_append(text, size, "%s", human_counted(number, side->slices.count, "slices"));
	if (side->run_count > 1)
		text_append(text, size, " of %s", human_counted(number, side->run_count, "runs"));
	if (side->targets[0])
		text_append(text, size, ", %s", side->targets);
	if (side->host[0])
		text_append(text, size, " on %s", side->host);
}

static void note(char notes[DIFF_NOTES_MAX][512], size_t *count, const char *text)
{
	if (*count < DIFF_NOTES_MAX)
		snprintf(notes[(*count)++], 512, "%s", text);
}

static void note_noise(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512],
		       size_t *count)
{
	const char *side = !comparison->blocks[DIFF_BASE] && !comparison->blocks[DIFF_NEW]
				   ? "both sides"
			   : comparison->blocks[DIFF_BASE] ? "the new side"
							   : "the base side";
	char text[512];

	if (comparison->blocks[DIFF_BASE] && comparison->blocks[DIFF_NEW])
		return;
	snprintf(text, sizeof(text),
		 "Noise is not known: %s %s fewer than %d slices a run. Intervals of CPU samples "
		 "are those of sampling alone, the least there can be; nothing else is judged. Use "
		 "recordings (-o FILE.pkbpf) of longer runs, or with shorter slices (--slice "
		 "100ms).",
		 side, side[0] == 'b' ? "have" : "has", RESAMPLING_SLICES_MIN);
	note(notes, count, text);
}

static void note_runs(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512],
		      size_t *count)
{
	if (comparison->sides[DIFF_BASE]->run_count < 2 &&
	    comparison->sides[DIFF_NEW]->run_count < 2 && comparison->blocks[DIFF_BASE] &&
	    comparison->blocks[DIFF_NEW])
		note(notes, count,
		     "Each side is one run: scatter between runs is not known. Several runs "
		     "(--base, --new, --save-baseline) show it.");
}

static void note_losses(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512],
			size_t *count)
{
	static const char *const names[] = {"base", "new"};
	char number[HUMAN_SIZE], text[512];

	for (int i = 0; i < DIFF_SIDES; i++) {
		uint64_t lost = comparison->sides[i]->lost;

		if (!lost)
			continue;
		snprintf(text, sizeof(text), "%s lost on the %s side: its figures are too low.",
			 human_counted(number, lost, "events"), names[i]);
		note(notes, count, text);
	}
}

static void note_hosts(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512],
		       size_t *count)
{
	const char *base = comparison->sides[DIFF_BASE]->host;
	const char *new = comparison->sides[DIFF_NEW]->host;

	if (base[0] && new[0] && strcmp(base, new) != 0)
		note(notes, count,
		     "The sides are of different hosts: a change may be one of the machine.");
}

static size_t count_let_go(const struct comparison *comparison)
{
	size_t count = 0;

	for (int i = 0; i < DIFF_SIDES; i++) {
		array_foreach(&comparison->sides[i]->series, series)
			count += series->key.level == DIFF_REGION_LET_GO &&
				 (i == DIFF_BASE ||
				  !measurement_find(comparison->sides[DIFF_BASE], &series->key));
	}
	return count;
}

static void note_let_go(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512],
			size_t *count)
{
	size_t functions = count_let_go(comparison);
	char number[HUMAN_SIZE], text[512];

	if (!functions || !(comparison->kinds_mask & 1U << PKBPF_PROFILE_CALLS))
		return;
	snprintf(text, sizeof(text),
		 "Not compared: %s with missing calls on a side. Their probes cost more than "
		 "--probe-cost and were detached.",
		 human_counted(number, functions, "functions"));
	note(notes, count, text);
}

size_t diff_words_notes(const struct comparison *comparison, char notes[DIFF_NOTES_MAX][512])
{
	size_t count = 0;

	note_noise(comparison, notes, &count);
	note_runs(comparison, notes, &count);
	note_losses(comparison, notes, &count);
	note_let_go(comparison, notes, &count);
	note_hosts(comparison, notes, &count);
	return count;
}
