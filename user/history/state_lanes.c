// SPDX-License-Identifier: BSD-2-Clause
/* Adds up rows of windows by lane and state. */
#include "history/state_lanes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/hash_map.h"
#include "finding/results.h"
#include "profile/slice/slice.h"

static const char *const state_names[LANE_STATES] = {
	[LANE_STATE_ON_CPU] = "on-CPU",	  [LANE_STATE_RUNQUEUE] = "run queue",
	[LANE_STATE_DISK] = "disk wait",  [LANE_STATE_UNINTERRUPTIBLE] = "D state (not I/O)",
	[LANE_STATE_GPU] = "GPU wait",	  [LANE_STATE_SLEEP] = "sleep",
	[LANE_STATE_STOPPED] = "stopped", [LANE_STATE_OTHER] = "off-CPU, state not known",
};

/* Identities that are remembered: beyond, those in the others that come again count twice. */
#define KNOWN_MAX (1U << 18)
#define IN_OTHERS UINT64_MAX

struct reading {
	struct state_lanes *lanes;
	struct hash_map index; /* of a row's identity -> in lanes, or IN_OTHERS */
	uint64_t seed;
	size_t forgotten; /* identities in the others */
};

static bool has_identity(const struct state_lane *lane, const struct resource_row *row)
{
	return lane->pid == row->pid && lane->tid == row->tid && !strcmp(lane->name, row->name) &&
	       !strcmp(lane->container, row->container);
}

static uint64_t identity(const struct reading *reading, uint32_t pid, uint32_t tid,
			 const char *name, const char *container)
{
	uint64_t hash = hash_bytes(&pid, sizeof(pid), reading->seed);

	hash = hash_bytes(&tid, sizeof(tid), hash);
	hash = hash_bytes(name, strlen(name), hash);
	return hash_bytes(container, strlen(container), hash);
}

static bool begin_values(struct state_lane *lane)
{
	lane->values = calloc(STATE_LANES_POINTS_MAX, sizeof(*lane->values));
	return lane->values;
}

static int by_activity(const void *left, const void *right)
{
	const struct state_lane *a = left, *b = right;
	int order;

	if (a->active_ns != b->active_ns)
		return a->active_ns > b->active_ns ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* Those from `first` on are no lanes any more. */
static void move_to_others(struct state_lanes *lanes, size_t first)
{
	for (size_t i = first; i < lanes->lanes.count; i++) {
		struct state_lane *lane = &lanes->lanes.items[i];

		lanes->others.active_ns += lane->active_ns;
		for (size_t j = 0; j < lanes->points.count; j++)
			for (size_t k = 0; k < LANE_STATES; k++)
				lanes->others.values[j][k] += lane->values[j][k];
		free(lane->values);
		free(lane->regions);
		lanes->others_count++;
	}
	if (first < lanes->lanes.count)
		lanes->lanes.count = first;
}

/* Identities that are remembered, and are no lanes, are in the others. */
static void count_others(struct reading *reading)
{
	struct state_lanes *lanes = reading->lanes;

	lanes->others_count = reading->forgotten + reading->index.count - lanes->lanes.count;
}

/* Makes room: a program that comes late may be the most active of all. */
static bool halve_lanes(struct reading *reading)
{
	struct state_lanes *lanes = reading->lanes;

	qsort(lanes->lanes.items, lanes->lanes.count, sizeof(*lanes->lanes.items), by_activity);
	array_foreach(&lanes->lanes, lane) {
		size_t i = (size_t)(lane - lanes->lanes.items);
		uint64_t hash =
			identity(reading, lane->pid, lane->tid, lane->name, lane->container);

		if (!hash_map_put(&reading->index, hash, i < STATE_LANES_MAX / 2 ? i : IN_OTHERS))
			return false;
	}
	move_to_others(lanes, STATE_LANES_MAX / 2);
	return true;
}

/* Only the lanes stay known. */
static bool forget_others(struct reading *reading)
{
	struct state_lanes *lanes = reading->lanes;

	count_others(reading);
	reading->forgotten = lanes->others_count;
	hash_map_done(&reading->index);
	reading->index = (struct hash_map){0};
	array_foreach(&lanes->lanes, lane) {
		size_t i = (size_t)(lane - lanes->lanes.items);
		uint64_t hash =
			identity(reading, lane->pid, lane->tid, lane->name, lane->container);

		if (!hash_map_put(&reading->index, hash, i))
			return false;
	}
	return true;
}

/* NULL: out of memory. */
static struct state_lane *find_lane(struct reading *reading, const struct resource_row *row)
{
	struct state_lanes *lanes = reading->lanes;
	uint64_t hash = identity(reading, row->pid, row->tid, row->name, row->container);
	const uint64_t *known = hash_map_find(&reading->index, hash);
	struct state_lane *lane = known && *known != IN_OTHERS ? &lanes->lanes.items[*known] : NULL;

	if (lane)
		/* Another identity of the same hash: its values go to the others. */
		return has_identity(lane, row) ? lane : &lanes->others;
	if (lanes->lanes.count >= STATE_LANES_MAX && !halve_lanes(reading))
		return NULL;
	if (reading->index.count >= KNOWN_MAX && !forget_others(reading))
		return NULL;
	if (!hash_map_put(&reading->index, hash, lanes->lanes.count))
		return NULL;
	lane = array_add(&lanes->lanes);
	if (!lane)
		return NULL;
	*lane = (struct state_lane){.pid = row->pid, .tid = row->tid};
	memcpy(lane->name, row->name, sizeof(lane->name));
	memcpy(lane->container, row->container, sizeof(lane->container));
	if (begin_values(lane))
		return lane;
	lanes->lanes.count--;
	return NULL;
}

/* Of a thread, what is left of its life. */
static uint64_t other_ns(const struct resource_row *row, const uint64_t values[LANE_STATES])
{
	uint64_t known = 0;

	for (size_t i = 0; i < LANE_STATES; i++)
		known += values[i];
	return row->tid && row->lifetime_ns > known ? row->lifetime_ns - known : 0;
}

static bool add_row(struct reading *reading, const struct resource_row *row)
{
	size_t point = reading->lanes->points.count - 1;
	/* A part of the state, if that is known, which the other states do not have. */
	uint64_t spin_ns = row->gpu.state_ns ? row->gpu.spin_ns : 0;
	uint64_t values[LANE_STATES] = {
		[LANE_STATE_ON_CPU] = row->cpu.total_ns - spin_ns,
		[LANE_STATE_RUNQUEUE] = row->waits.runqueue_ns,
		[LANE_STATE_DISK] = row->waits.disk_ns,
		[LANE_STATE_UNINTERRUPTIBLE] = row->waits.uninterruptible_ns,
		[LANE_STATE_GPU] = row->gpu.state_ns,
		[LANE_STATE_SLEEP] = row->waits.sleep_ns,
		[LANE_STATE_STOPPED] = row->waits.stopped_ns,
	};
	struct state_lane *lane;
	bool is_empty = true;

	values[LANE_STATE_OTHER] = other_ns(row, values);
	for (size_t i = 0; i < LANE_STATES; i++)
		is_empty = is_empty && !values[i];
	if (is_empty)
		return true;
	lane = find_lane(reading, row);
	if (!lane)
		return false;
	if (row->known & ROW_HAS_KIND(PKBPF_PROFILE_OFFCPU))
		reading->lanes->has_waits = true;
	for (size_t i = 0; i < LANE_STATES; i++) {
		lane->values[point][i] += values[i];
		if (i <= LANE_STATE_GPU)
			lane->active_ns += values[i];
	}
	return lane == &reading->lanes->others ||
	       lane_regions_put(&lane->regions, STATE_LANES_POINTS_MAX, point,
				reading->lanes->region_names, &row->region) == 0;
}

static int add_profile(struct reading *reading, const struct profile *profile)
{
	struct lane_point *point = &reading->lanes->points.items[reading->lanes->points.count - 1];
	const struct profile_info *info = profile_info_read(profile);
	const struct resource_rows *rows;
	struct results results;
	int err;

	point->shed_steps = info->shed_steps;
	point->regions_ns = info->regions_ns;
	memcpy(point->shed, info->shed, sizeof(point->shed));
	results_init(&results, profile, reading->lanes->by);
	err = results_rows(&results, &rows);
	for (size_t i = 0; err == 0 && i < rows->all_count; i++)
		if (!rows->items[i].no_process && !add_row(reading, &rows->items[i]))
			err = -ENOMEM;
	results_done(&results);
	return err;
}

/* Deleted and damaged windows are gaps. `missing`: so many cannot be read. */
static uint64_t covered_ns(struct store *store, const struct slice_choice *choice,
			   const struct store_windows *windows, size_t missing)
{
	uint64_t ns = 0;

	array_foreach(&windows->list, window) {
		struct profile *profile = NULL;

		if (missing && store_read(store, window, choice, &profile) < 0)
			continue;
		profile_free(profile);
		ns += (uint64_t)(window->end_unix_ns - window->begin_unix_ns);
	}
	return ns;
}

static int read_point(struct reading *reading, struct store *store,
		      const struct slice_choice *choice, const struct store_windows *windows)
{
	const struct store_window *items = windows->list.items;
	struct lane_point *point = array_add(&reading->lanes->points);
	struct profile *profile = NULL;
	size_t missing;
	int err;

	if (!point)
		return -ENOMEM;
	*point = (struct lane_point){
		.range = {items[0].begin_unix_ns, items[windows->list.count - 1].end_unix_ns}};
	err = store_merge(store, windows, choice, &profile, &missing);
	if (err == 0)
		point->covered_ns = covered_ns(store, choice, windows, missing);
	if (err == 0 && profile)
		err = add_profile(reading, profile);
	profile_free(profile);
	return err;
}

static int read_points(struct reading *reading, struct store *store,
		       const struct slice_choice *choice, const struct store_windows *windows)
{
	size_t all = windows->list.count;
	size_t each = (all + STATE_LANES_POINTS_MAX - 1) / STATE_LANES_POINTS_MAX;
	int err = 0;

	for (size_t at = 0; err == 0 && at < all; at += each) {
		const struct store_windows part = {
			.list = {.items = windows->list.items + at,
				 .count = all - at < each ? all - at : each}};

		err = read_point(reading, store, choice, &part);
	}
	return err;
}

int state_lanes_read(struct store *store, const struct history_range *range,
		     const struct slice_choice *choice, enum rows_by by,
		     struct state_lanes *ret_lanes, struct error *error)
{
	struct reading reading = {.lanes = ret_lanes, .seed = hash_random_seed()};
	struct store_windows windows;
	int err;

	*ret_lanes = (struct state_lanes){
		.by = by, .others = {.name = "others"}, .region_names = string_pool_new()};
	if (!ret_lanes->region_names)
		return error_set(error, ENOMEM, "cannot read the history: %s", strerror(ENOMEM));
	err = history_windows(store, range, STATE_LANES_POINTS_MAX, &windows, error);
	if (err < 0)
		return err;
	err = begin_values(&ret_lanes->others) ? read_points(&reading, store, choice, &windows)
					       : -ENOMEM;
	array_free(&windows.list);
	if (err == 0)
		count_others(&reading);
	hash_map_done(&reading.index);
	if (ret_lanes->lanes.count)
		qsort(ret_lanes->lanes.items, ret_lanes->lanes.count,
		      sizeof(*ret_lanes->lanes.items), by_activity);
	return err < 0 ? error_set(error, -err, "cannot read the history: %s", strerror(-err)) : 0;
}

/* ---- JSON ---- */

/* A list of values for each state, by window; a state that is never there: null. */
static void write_values(const struct state_lanes *lanes, const struct state_lane *lane, FILE *out)
{
	for (size_t state = 0; state < LANE_STATES; state++) {
		bool is_there = false;

		for (size_t i = 0; i < lanes->points.count; i++)
			is_there = is_there || lane->values[i][state];
		fputs(state ? "," : "", out);
		if (!is_there) {
			fputs("null", out);
			continue;
		}
		for (size_t i = 0; i < lanes->points.count; i++)
			fprintf(out, "%c%" PRIu64, i ? ',' : '[', lane->values[i][state]);
		fputc(']', out);
	}
}

static void write_lane(const struct state_lanes *lanes, const struct state_lane *lane,
		       struct lane_region_names *names, FILE *out)
{
	fputs("{\"name\":", out);
	escape_json(out, lane->name);
	if (lane->pid)
		fprintf(out, ",\"pid\":%" PRIu32, lane->pid);
	if (lane->tid)
		fprintf(out, ",\"tid\":%" PRIu32, lane->tid);
	if (lane->container[0]) {
		fputs(",\"container\":", out);
		escape_json(out, lane->container);
	}
	fprintf(out, ",\"active_ns\":%" PRIu64 ",\"values\":[", lane->active_ns);
	write_values(lanes, lane, out);
	fputc(']', out);
	lane_regions_write(lane->regions, lanes->points.count, names, out);
	fputc('}', out);
}

static void write_points(const struct state_lanes *lanes, FILE *out)
{
	fputs("\"windows\":[", out);
	array_foreach(&lanes->points, point)
		fprintf(out, "%s[%.3f,%.3f]", point == lanes->points.items ? "" : ",",
			(double)point->range.from_unix_ns / NS_PER_SECOND,
			(double)point->range.to_unix_ns / NS_PER_SECOND);
	fputs("],\"covered_ns\":[", out);
	array_foreach(&lanes->points, point)
		fprintf(out, "%s%" PRIu64, point == lanes->points.items ? "" : ",",
			point->covered_ns);
	fputs("],\"regions_ns\":[", out);
	array_foreach(&lanes->points, point)
		fprintf(out, "%s%" PRIu64, point == lanes->points.items ? "" : ",",
			point->regions_ns);
	fputs("],\"left_out\":[", out);
	array_foreach(&lanes->points, point) {
		fputs(point == lanes->points.items ? "" : ",", out);
		if (point->shed_steps)
			escape_json(out, point->shed);
		else
			fputs("null", out);
	}
	fputs("]", out);
}

void state_lanes_write_json(struct state_lanes *lanes, size_t top, FILE *out)
{
	struct lane_region_names names = {0};

	move_to_others(lanes, top);
	fprintf(out, "{\"by\":\"%s\",\"states\":[", rows_grouping_name(lanes->by));
	for (size_t i = 0; i < LANE_STATES; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", state_names[i]);
	fprintf(out, "],\"has_waits\":%s,", lanes->has_waits ? "true" : "false");
	write_points(lanes, out);
	fputs(",\"lanes\":[", out);
	for (size_t i = 0; i < lanes->lanes.count; i++) {
		fputs(i ? "," : "", out);
		write_lane(lanes, &lanes->lanes.items[i], &names, out);
	}
	fprintf(out, "],\"others\":{\"lanes\":%zu,\"lane\":", lanes->others_count);
	write_lane(lanes, &lanes->others, &names, out);
	fputc('}', out);
	lane_region_names_write(&names, lanes->region_names, out);
	fputs("}\n", out);
}

void state_lanes_done(struct state_lanes *lanes)
{
	move_to_others(lanes, 0);
	array_free(&lanes->lanes);
	free(lanes->others.values);
	array_free(&lanes->points);
	string_pool_free(lanes->region_names);
}
