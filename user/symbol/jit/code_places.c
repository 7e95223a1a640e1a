// SPDX-License-Identifier: BSD-2-Clause
/* Finds out what code was at an address at a time. */
#include "symbol/jit/code_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Places that were added since they were sorted are searched one by one: so many, and more of very
 * many. */
#define MAX_UNSORTED(sorted) (64 + (sorted) / 256)
/* Of one place; older ones are forgotten. Samples come some seconds late at most. */
#define MAX_LINES 64
/* Of one place; further samples share the last reading, and are less certain. */
#define MAX_WAITS 16
/* Readings that are compared with a new one. */
#define RECENT_READINGS 32

void code_places_done(struct code_places *places)
{
	array_free(&places->places);
	array_free(&places->lines);
	array_free(&places->readings);
	array_free(&places->waits);
	*places = (struct code_places){0};
}

size_t code_places_lower(const struct code_places *places, uint64_t address)
{
	size_t low = 0, high = places->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->places.items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int compare_places(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

void code_places_sort(struct code_places *places)
{
	struct code_place *items = places->places.items;
	size_t sorted = places->sorted, count = places->places.count, at = count;
	_cleanup_free_ struct code_place *added = NULL;

	if (sorted == count)
		return;
	qsort(items + sorted, count - sorted, sizeof(*items), compare_places);
	added = malloc((count - sorted) * sizeof(*added));
	if (!added) {
		qsort(items, count, sizeof(*items), compare_places);
		places->sorted = count;
		return;
	}
	memcpy(added, items + sorted, (count - sorted) * sizeof(*added));
	/* From the end, where there is room. */
	for (size_t left = count - sorted; left > 0;) {
		if (sorted > 0 && items[sorted - 1].address > added[left - 1].address)
			items[--at] = items[--sorted];
		else
			items[--at] = added[--left];
	}
	places->sorted = count;
}

struct code_place *code_places_find(struct code_places *places, uint64_t address)
{
	size_t at = code_places_lower(places, address);

	if (at < places->sorted && places->places.items[at].address == address)
		return &places->places.items[at];
	for (at = places->sorted; at < places->places.count; at++)
		if (places->places.items[at].address == address)
			return &places->places.items[at];
	return NULL;
}

struct code_place *code_places_add(struct code_places *places, uint64_t address)
{
	struct code_place *place;

	if (places->places.count - places->sorted >= MAX_UNSORTED(places->sorted))
		code_places_sort(places);
	place = array_add(&places->places);
	if (place)
		*place = (struct code_place){
			.address = address,
			.reading = CODE_NO_READING,
			.open = CODE_NO_READING,
			.inherited = CODE_NO_READING,
		};
	return place;
}

/* ---- lines ---- */

static const struct code_line *line_at(const struct code_places *places, uint32_t number)
{
	return number ? &places->lines.items[number - 1] : NULL;
}

static uint32_t take_line(struct code_places *places)
{
	uint32_t number = places->free_line;

	if (number) {
		places->free_line = places->lines.items[number - 1].older;
		return number;
	}
	return array_add(&places->lines) ? (uint32_t)places->lines.count : 0;
}

static void drop_oldest(struct code_places *places, struct code_place *place)
{
	uint32_t *link = &place->newest;

	while (places->lines.items[*link - 1].older)
		link = &places->lines.items[*link - 1].older;
	places->lines.items[*link - 1].older = places->free_line;
	places->free_line = *link;
	*link = 0;
	place->line_count--;
}

static void name_open(struct code_places *places, struct code_place *place,
		      const struct code_line *line)
{
	struct code_reading *reading;

	if (place->open == CODE_NO_READING)
		return;
	reading = &places->readings.items[place->open];
	reading->state = line->name ? CODE_NAMED : CODE_DROPPED;
	reading->name = line->name;
	reading->after = line->lo_ns > place->open_ns;
	reading->late = reading->after && !line->snapshot;
	place->open = CODE_NO_READING;
}

bool code_places_add_line(struct code_places *places, struct code_place *place,
			  const struct code_line *line)
{
	const struct code_line *newest = line_at(places, place->newest);
	uint32_t number;

	/* The same again: it was there all the time. */
	if (newest && newest->name == line->name && line->name)
		return true;
	number = take_line(places);
	if (!number)
		return false;
	places->lines.items[number - 1] = *line;
	places->lines.items[number - 1].older = place->newest;
	place->newest = number;
	if (++place->line_count > MAX_LINES)
		drop_oldest(places, place);
	if (place->line_count == 1)
		name_open(places, place, line);
	return true;
}

/* ---- readings ---- */

/* What a place was between two times, newest first. */
struct candidates {
	const struct code_line *lines[2];
	size_t count;		       /* of different names */
	const struct code_line *later; /* the first one that came after */
};

static void add_candidate(struct candidates *candidates, const struct code_line *line)
{
	for (size_t i = 0; i < candidates->count && i < 2; i++)
		if (candidates->lines[i]->name == line->name)
			return;
	if (candidates->count < 2)
		candidates->lines[candidates->count] = line;
	candidates->count++;
}

static struct candidates candidates_of(const struct code_places *places,
				       const struct code_place *place, uint64_t first_ns,
				       uint64_t last_ns)
{
	const struct code_line *line = line_at(places, place->newest);
	struct candidates candidates = {0};

	for (; line; line = line_at(places, line->older)) {
		if (last_ns <= line->lo_ns) {
			candidates.later = line;
			continue;
		}
		add_candidate(&candidates, line);
		if (first_ns > line->hi_ns)
			break;
	}
	return candidates;
}

static struct code_reading reading_of(const struct code_places *places,
				      const struct code_place *place, uint64_t first_ns,
				      uint64_t last_ns)
{
	struct candidates found = candidates_of(places, place, first_ns, last_ns);
	struct code_reading reading = {.state = CODE_UNNAMED};

	if (!found.count && found.later) {
		found.lines[found.count++] = found.later;
		reading.after = true;
		reading.late = !found.later->snapshot;
	}
	if (!found.count)
		return reading;
	reading.state = CODE_NAMED;
	reading.name = found.lines[0]->name;
	reading.other = found.count > 1 ? found.lines[1]->name : NULL;
	reading.others = found.count > 2;
	if (!reading.name || (found.count > 1 && !reading.other))
		reading = (struct code_reading){.state = CODE_DROPPED};
	return reading;
}

static bool reads_the_same(const struct code_reading *a, const struct code_reading *b)
{
	return a->state == b->state && a->name == b->name && a->other == b->other &&
	       a->late == b->late && a->after == b->after && a->others == b->others;
}

static uint32_t add_reading(struct code_places *places, const struct code_reading *reading)
{
	if (places->readings.count >= CODE_PLACES_MAX_READINGS ||
	    !array_reserve(&places->readings, places->readings.count + 1))
		return CODE_NO_READING;
	*array_add(&places->readings) = *reading;
	return (uint32_t)places->readings.count - 1;
}

/* One that reads the same, if it was given lately, or a new one. */
static uint32_t get_reading(struct code_places *places, const struct code_place *place,
			    const struct code_reading *reading)
{
	size_t count = places->readings.count;

	if (place->reading != CODE_NO_READING &&
	    reads_the_same(&places->readings.items[place->reading], reading))
		return place->reading;
	for (size_t i = count; i > 0 && count - i < RECENT_READINGS; i--)
		if (reads_the_same(&places->readings.items[i - 1], reading))
			return (uint32_t)i - 1;
	return add_reading(places, reading);
}

/* Samples without a name share one reading, which the first line names. */
static uint32_t open_reading(struct code_places *places, struct code_place *place, uint32_t reading,
			     uint64_t time_ns)
{
	if (place->open == CODE_NO_READING) {
		place->open_ns = time_ns;
		place->open = reading != CODE_NO_READING
				      ? reading
				      : add_reading(places,
						    &(struct code_reading){.state = CODE_UNNAMED});
	} else if (time_ns < place->open_ns) {
		place->open_ns = time_ns;
	}
	return place->open;
}

uint32_t code_places_read(struct code_places *places, struct code_place *place, uint64_t time_ns)
{
	struct code_reading reading = reading_of(places, place, time_ns, time_ns);

	if (reading.state == CODE_UNNAMED)
		return open_reading(places, place, CODE_NO_READING, time_ns);
	place->reading = get_reading(places, place, &reading);
	return place->reading;
}

uint32_t code_places_wait(struct code_places *places, struct code_place *place, uint64_t time_ns,
			  bool (*boundary)(const void *context, uint64_t a_ns, uint64_t b_ns),
			  const void *context)
{
	struct code_wait *wait = place->wait_count ? &places->waits.items[place->wait] : NULL;
	uint32_t reading;

	if (wait &&
	    (place->wait_count >= MAX_WAITS || !boundary(context, wait->first_ns, time_ns))) {
		if (time_ns < wait->first_ns)
			wait->first_ns = time_ns;
		if (time_ns > wait->last_ns)
			wait->last_ns = time_ns;
		return wait->reading;
	}
	if (!array_reserve(&places->waits, places->waits.count + 1))
		return CODE_NO_READING;
	reading = add_reading(places, &(struct code_reading){.state = CODE_WAITING});
	if (reading == CODE_NO_READING)
		return reading;
	place->wait = (uint32_t)places->waits.count;
	place->wait_count++;
	*array_add(&places->waits) = (struct code_wait){
		.address = place->address,
		.first_ns = time_ns,
		.last_ns = time_ns,
		.reading = reading,
	};
	return reading;
}

static void decide(struct code_places *places, struct code_place *place,
		   const struct code_wait *wait)
{
	struct code_reading reading = reading_of(places, place, wait->first_ns, wait->last_ns);

	place->wait_count--;
	if (reading.state == CODE_UNNAMED) {
		uint32_t open = open_reading(places, place, wait->reading, wait->first_ns);

		if (open != wait->reading)
			reading = (struct code_reading){.state = CODE_SAME, .same = open};
	} else {
		place->reading = wait->reading;
	}
	places->readings.items[wait->reading] = reading;
}

void code_places_decide(struct code_places *places, uint64_t read_to)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->waits.count; i++) {
		const struct code_wait wait = places->waits.items[i];
		struct code_place *place = code_places_find(places, wait.address);

		if (place->read_to >= read_to) {
			decide(places, place, &wait);
		} else {
			place->wait = (uint32_t)kept;
			places->waits.items[kept++] = wait;
		}
	}
	places->waits.count = kept;
}

/* Those of places that are about to be forgotten, all at once: there may be as many as places. */
static void drop_rare_waits(struct code_places *places, uint32_t hits)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->waits.count; i++) {
		const struct code_wait wait = places->waits.items[i];

		if (code_places_find(places, wait.address)->hits < hits)
			places->readings.items[wait.reading].state = CODE_DROPPED;
		else
			places->waits.items[kept++] = wait;
	}
	places->waits.count = kept;
}

static void free_lines(struct code_places *places, struct code_place *place)
{
	while (place->newest) {
		struct code_line *line = &places->lines.items[place->newest - 1];
		uint32_t older = line->older;

		line->older = places->free_line;
		places->free_line = place->newest;
		place->newest = older;
	}
}

uint64_t code_places_forget_rare(struct code_places *places, uint32_t hits)
{
	uint64_t dropped = 0;
	size_t kept = 0;

	code_places_sort(places);
	drop_rare_waits(places, hits);
	for (size_t i = 0; i < places->places.count; i++) {
		struct code_place *place = &places->places.items[i];

		if (place->hits >= hits) {
			places->places.items[kept] = *place;
			/* What is used no more becomes rare. */
			places->places.items[kept++].hits /= 2;
			continue;
		}
		if (place->wait_count)
			dropped += place->hits;
		free_lines(places, place);
	}
	places->places.count = places->sorted = kept;
	for (size_t i = 0; i < places->waits.count; i++) {
		struct code_place *place = code_places_find(places, places->waits.items[i].address);

		place->wait = (uint32_t)i;
	}
	return dropped;
}
