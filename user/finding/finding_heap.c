// SPDX-License-Identifier: BSD-2-Clause
/* The rules about sampled heaps: leaks, and memory that allocators keep. */
#include <inttypes.h>

#include "base/array.h"
#include "finding/finding_rules.h"
#include "rows/heap_place.h"
#include "rows/human.h"

#define PATH_FUNCTIONS 3

/* Kept of what was freed: at least, and of the private memory. */
#define KEPT_BYTES   (64 << 20)
#define KEPT_PERCENT 50
#define PAGE_BYTES   4096

static void say_path(char part[FINDING_PART_SIZE], const struct resource_rows *rows,
		     const struct heap_place *place)
{
	const struct function *path[PATH_FUNCTIONS];
	size_t count =
		heap_place_functions(rows->profile, rows->functions, place, path, PATH_FUNCTIONS);

	for (size_t i = count; i-- > 0;)
		finding_say(part, "%s%s", path[i]->name, i ? " > " : "");
}

/* The place with the most growth of those that grow like a leak; NULL: none. */
static const struct heap_place *leak_of(const struct analysis *analysis,
					const struct activity *activity, double *ret_others)
{
	const struct heap_place *worst = NULL;

	*ret_others = 0;
	array_foreach(&profile_heaps(analysis->rows->profile)->items, place) {
		if (place->trend != HEAP_TREND_GROWS || !activity_has_pid(activity, place->pid))
			continue;
		*ret_others += (double)place->growth_per_second;
		if (!worst || place->growth_bytes > worst->growth_bytes)
			worst = place;
	}
	*ret_others -= worst ? (double)worst->growth_per_second : 0;
	return worst;
}

/* A limit that will be reached is worse than none. */
static void find_leak(const struct analysis *analysis, const struct activity *activity,
		      struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_heap_grows);
	const struct resource_rows *rows = analysis->rows;
	char a[HUMAN_SIZE], b[HUMAN_SIZE];
	double others;
	bool is_freed;
	const struct heap_place *place = leak_of(analysis, activity, &others);
	uint64_t left = rows->machine.memory_available_bytes;

	if (!place)
		return;
	/* At its exit a program may have freed all of it. */
	is_freed = place->live.bytes < place->growth_bytes;
	finding.severity =
		finding_percent((double)place->growth_bytes,
				(double)(is_freed ? place->growth_bytes : place->live.bytes) + 1);
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "grows like a leak by %s/s",
		    human_bytes(a, place->growth_per_second));
	say_path(finding.place, rows, place);
	if (is_freed)
		finding_say(finding.evidence, "by %s +- %s, freed at its end",
			    human_bytes(a, place->growth_bytes),
			    human_bytes(b, place->growth_error_bytes));
	else
		finding_say(finding.evidence, "%s +- %s not freed",
			    human_bytes(a, place->live.bytes),
			    human_bytes(b, place->live.error_bytes));
	/* Of a buffer that only realloc() lets grow there is nothing older. */
	if (place->stays_permille)
		finding_say(finding.evidence, "; of what it allocated first, %.0f %% %s alive",
			    (double)place->stays_permille / 10, is_freed ? "was" : "is");
	else
		finding_say(finding.evidence, "; a buffer that only grows");
	if (others > 0)
		finding_say(finding.evidence, "; other places %s/s",
			    human_bytes(a, human_whole(others)));
	if (rows->machine.known && place->growth_per_second)
		finding_say(
			finding.next,
			"free it, or limit its number (a cache that is not full yet ends by "
			"itself); at this rate, free memory is used up in %s",
			human_time(a, left / place->growth_per_second < UINT64_MAX / NS_PER_SECOND
					      ? left / place->growth_per_second * NS_PER_SECOND
					      : UINT64_MAX));
	findings_offer(findings, &finding);
}

/* What is alive of a process: its blocks, and the place with most of them. */
static const struct heap_place *survivors_of(const struct analysis *analysis, uint32_t pid,
					     uint64_t *ret_objects)
{
	const struct heap_place *most = NULL;

	*ret_objects = 0;
	array_foreach(&profile_heaps(analysis->rows->profile)->items, place) {
		if (place->pid != pid)
			continue;
		*ret_objects += place->live.objects;
		if (place->live.objects && (!most || place->live.objects > most->live.objects))
			most = place;
	}
	return most;
}

static const struct resource_row *keeps_most(const struct activity *activity)
{
	const struct resource_row *worst = NULL;

	for (size_t i = 0; i < activity->group->count; i++) {
		const struct resource_row *row = activity->group->members[i];

		if (!worst || row->heap.kept_bytes > worst->heap.kept_bytes)
			worst = row;
	}
	return worst;
}

static void find_kept(const struct analysis *analysis, const struct activity *activity,
		      struct findings *findings)
{
	struct finding finding = finding_new(FINDING_RULE_heap_kept);
	const struct resource_row *row = keeps_most(activity);
	uint64_t kept = row ? row->heap.kept_bytes : 0, objects;
	const struct heap_place *place;
	char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

	if (kept < KEPT_BYTES)
		return;
	finding.severity = finding_percent((double)kept, (double)row->memory.private_bytes);
	if (finding.severity < KEPT_PERCENT)
		return;
	finding_say_who(&finding, analysis, activity);
	finding_say(finding.cause, "holds %s that it has freed", human_bytes(a, kept));
	place = survivors_of(analysis, row->pid, &objects);
	/* The peaks may be of different times. */
	finding_say(finding.evidence, "its heap fell from %s to %s, resident memory is %s",
		    human_bytes(a, row->heap.peak_bytes), human_bytes(b, row->heap.live_bytes),
		    human_bytes(c, row->memory.rss_bytes));
	finding_say(finding.evidence, " (peak %s)", human_bytes(a, row->memory.peak_rss_bytes));
	/* Pages without any block that is alive can be given back. */
	if (!place || objects < kept / PAGE_BYTES / 2) {
		finding_say(finding.next, "malloc_trim(0) gives whole free pages back (glibc)");
	} else {
		say_path(finding.place, analysis->rows, place);
		finding_say(finding.evidence,
			    "; %s blocks are alive, most from there, enough to "
			    "keep each page",
			    human_count(a, objects));
		finding_say(finding.next, "keep blocks that live long apart from those that do "
					  "not: in memory of their own, or allocated before");
	}
	findings_offer(findings, &finding);
}

void find_heap(const struct analysis *analysis, const struct activity *activity,
	       struct findings *findings)
{
	find_leak(analysis, activity, findings);
	find_kept(analysis, activity, findings);
}
