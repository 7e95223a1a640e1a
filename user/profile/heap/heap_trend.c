// SPDX-License-Identifier: BSD-2-Clause
/* Five tests on the triangle of births and ends, and one on the level of sites of few blocks. */
#include "profile/heap/heap_trend.h"

#include <math.h>

#include "base/clock.h"

#define LEAST_RUN_NS	  (30 * NS_PER_SECOND)
#define LEAST_OLD_SAMPLES 10
#define LEAST_BYTES	  (1 << 20)
#define LEAST_SHARE	  0.01 /* of the live bytes of the process */
/* Parts of the run: what comes first is warm-up; the old ones were born before OLD, and are
 * compared from LATE on. */
#define WARM_UP		0.2
#define OLD		0.4
#define LATE		0.7
#define OLD_THAT_STAY	0.9
#define SIGMAS		3
#define SLOWED_DOWN	0.5
#define SPREAD_PART	0.6
#define SPREAD_OF_MEAN	0.25
#define SIGMAS_OF_ERROR 1.96
/* So few blocks are buffers that realloc() lets grow: each ends where the next one begins. */
#define FEW_BLOCKS	4
#define STEPS_THAT_RISE 0.8

struct triangle {
	const struct heap_site *site;
	size_t count; /* generations that are looked at; the last one may not be over */
	size_t all;   /* generations so far: what ended behind those counts as alive */
	double seconds;
};

static const struct heap_generation *ended(const struct triangle *triangle, size_t born, size_t end)
{
	static const struct heap_generation none;

	return triangle->site->endings ? &triangle->site->endings->born_ended[born][end] : &none;
}

static void add(struct heap_generation *sum, const struct heap_generation *more)
{
	sum->bytes += more->bytes;
	sum->variance += more->variance;
	sum->samples += more->samples;
}

/* What was born in a generation and alive at the end of generation `at`. */
static struct heap_generation born_alive_at(const struct triangle *triangle, size_t born, size_t at)
{
	struct heap_generation sum = triangle->site->alive[born];

	for (size_t end = at + 1; end < triangle->all; end++)
		add(&sum, ended(triangle, born, end));
	return sum;
}

/* What was born up to generation `born` and alive at the end of generation `at`. */
static struct heap_generation alive_at(const struct triangle *triangle, size_t born, size_t at)
{
	struct heap_generation sum = {0};

	for (size_t i = 0; i <= born && i <= at; i++) {
		struct heap_generation more = born_alive_at(triangle, i, at);

		add(&sum, &more);
	}
	return sum;
}

/* Of the difference between the ends of generation `at` and of the last one: what was born in
 * between and is alive, and what was alive and has ended. */
static double variance_since(const struct triangle *triangle, size_t at)
{
	double variance = 0;

	for (size_t born = 0; born < triangle->count; born++) {
		if (born > at)
			variance += born_alive_at(triangle, born, triangle->count - 1).variance;
		for (size_t end = at + 1; born <= at && end < triangle->count; end++)
			variance += ended(triangle, born, end)->variance;
	}
	return variance;
}

/* The last generation of a part of the run. */
static size_t last_of(const struct triangle *triangle, double part)
{
	size_t number = (size_t)ceil(part * (double)triangle->count);

	return number ? number - 1 : 0;
}

/* Growth that slows down comes to an end. */
static bool goes_on(const struct triangle *triangle, size_t warm, double growth)
{
	size_t last = triangle->count - 1, middle = (warm + last) / 2;
	double before =
		alive_at(triangle, middle, middle).bytes - alive_at(triangle, warm, warm).bytes;
	double share = (double)(middle - warm) / (double)(last - warm);

	/* Of halves of different length, the speed. */
	return (growth - before) / (1 - share) >= SLOWED_DOWN * before / share;
}

/* In the parts before LATE, whatever was going to be freed has been. */
static bool old_ones_stay(const struct triangle *triangle, double *ret_samples)
{
	size_t old = last_of(triangle, OLD), late = last_of(triangle, LATE);
	struct heap_generation then = alive_at(triangle, old, late);
	struct heap_generation now = alive_at(triangle, old, triangle->count - 1);

	*ret_samples = now.samples;
	return now.samples >= LEAST_OLD_SAMPLES && now.bytes >= OLD_THAT_STAY * then.bytes;
}

/* Not the work of one moment. The last generation may be short. */
static bool is_spread(const struct triangle *triangle)
{
	size_t full = triangle->count > 1 ? triangle->count - 1 : 1, filled = 0;
	double sum = 0;

	for (size_t i = 0; i < full; i++)
		sum += born_alive_at(triangle, i, triangle->count - 1).bytes;
	for (size_t i = 0; i < full; i++)
		filled += born_alive_at(triangle, i, triangle->count - 1).bytes >=
			  SPREAD_OF_MEAN * sum / (double)full;
	return sum > 0 && (double)filled >= SPREAD_PART * (double)full;
}

static double share_that_stays(const struct triangle *triangle)
{
	size_t old = last_of(triangle, OLD);
	double born = alive_at(triangle, old, triangle->count - 1).bytes, alive = born;

	for (size_t i = 0; i <= old; i++)
		for (size_t end = i; end < triangle->count; end++)
			born += ended(triangle, i, end)->bytes; /* not those beyond: alive */
	return born > 0 ? alive / born : 0;
}

/* Few blocks at a time; their bytes rise in nearly each generation and never fall. */
static bool few_blocks_grow(const struct triangle *triangle, size_t warm, double growth)
{
	size_t steps = 0, rises = 0;
	double before = alive_at(triangle, warm, warm).bytes;

	if (alive_at(triangle, triangle->count - 1, triangle->count - 1).samples > FEW_BLOCKS)
		return false;
	/* The last generation may be short. */
	for (size_t at = warm + 1; at + 1 < triangle->count; at++, steps++) {
		double now = alive_at(triangle, at, at).bytes;

		if (now < before)
			return false;
		rises += now - before >=
			 SPREAD_OF_MEAN * growth / (double)(triangle->count - 1 - warm);
		before = now;
	}
	return steps > 1 && (double)rises >= STEPS_THAT_RISE * (double)steps;
}

static struct heap_growth growth_of(const struct triangle *triangle, size_t warm, double live_bytes)
{
	struct heap_growth growth = {.trend = HEAP_TREND_UNKNOWN};
	bool stays, significant;

	growth.bytes = alive_at(triangle, triangle->count - 1, triangle->count - 1).bytes -
		       alive_at(triangle, warm, warm).bytes;
	growth.error = SIGMAS_OF_ERROR * sqrt(variance_since(triangle, warm));
	growth.bytes_per_second = triangle->seconds > 0 ? growth.bytes / triangle->seconds : 0;
	growth.stays = share_that_stays(triangle);
	stays = old_ones_stay(triangle, &growth.old_samples);
	significant = growth.bytes * SIGMAS_OF_ERROR > SIGMAS * growth.error &&
		      growth.bytes >= LEAST_BYTES && growth.bytes >= LEAST_SHARE * live_bytes;
	if (growth.old_samples < LEAST_OLD_SAMPLES && !significant)
		return growth;
	growth.trend = HEAP_TREND_NONE;
	if (significant &&
	    ((stays && is_spread(triangle)) || few_blocks_grow(triangle, warm, growth.bytes)))
		growth.trend =
			goes_on(triangle, warm, growth.bytes) ? HEAP_TREND_GROWS : HEAP_TREND_FILLS;
	return growth;
}

struct heap_growth heap_growth_of(const struct heap *heap, const struct heap_site *site,
				  const struct heap_span *span)
{
	struct heap_growth growth = {.trend = HEAP_TREND_UNKNOWN}, before;
	uint64_t start_ns = heap_start_ns(heap), run_ns = span->end_ns - start_ns;
	uint64_t generation_ns = heap_generation_ns(heap);
	struct triangle triangle = {.site = site};
	size_t warm;

	if (!start_ns || span->end_ns < start_ns + LEAST_RUN_NS)
		return growth;
	triangle.count = (size_t)((run_ns - 1) / generation_ns) + 1;
	if (triangle.count > HEAP_GENERATIONS)
		triangle.count = HEAP_GENERATIONS;
	triangle.all = triangle.count;
	warm = last_of(&triangle, WARM_UP);
	triangle.seconds = (double)(run_ns - (warm + 1) * generation_ns) / 1e9;
	growth = growth_of(&triangle, warm, span->live_bytes);
	if (!span->has_ended || growth.trend >= HEAP_TREND_FILLS)
		return growth;
	triangle.count--;
	triangle.seconds = (double)((triangle.count - warm - 1) * generation_ns) / 1e9;
	before = growth_of(&triangle, warm, span->live_bytes);
	return before.trend >= HEAP_TREND_FILLS ? before : growth;
}
