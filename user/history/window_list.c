// SPDX-License-Identifier: BSD-2-Clause
#include "history/window_list.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/clock.h"

/* Edges of windows that follow each other differ by the steps of the clock. */
#define GAP_MIN_NS ((int64_t)(2 * NS_PER_SECOND))
#define LIST_MAX   20

/* Both clocks went on between the two windows: by how much? */
static bool is_clock_step(const struct store_window *before, const struct store_window *after)
{
	uint64_t end_ns =
		before->begin_ns + (uint64_t)(before->end_unix_ns - before->begin_unix_ns);

	return after->begin_ns >= before->begin_ns &&
	       after->begin_ns < end_ns + (uint64_t)GAP_MIN_NS;
}

int history_gaps_find(const struct store_windows *windows, struct history_gaps *ret_gaps)
{
	const struct store_window *last = NULL;

	*ret_gaps = (struct history_gaps){0};
	array_foreach(&windows->list, window) {
		if (last && window->begin_unix_ns - last->end_unix_ns >= GAP_MIN_NS) {
			struct history_gap *gap = array_add(&ret_gaps->list);

			if (!gap)
				return -ENOMEM;
			*gap = (struct history_gap){{last->end_unix_ns, window->begin_unix_ns},
						    is_clock_step(last, window)};
		}
		if (!last || window->end_unix_ns > last->end_unix_ns)
			last = window;
	}
	return 0;
}

static double seconds(int64_t unix_ns)
{
	return (double)unix_ns / 1e9;
}

static const char *cause(const struct history_gap *gap)
{
	return gap->is_clock ? "clock" : "down";
}

int window_list_write_json(struct store *store, enum store_level level,
			   const struct history_range *range, FILE *out)
{
	struct history_gaps gaps = {0};
	struct store_windows windows;
	int err = store_list(store, level, range->from_unix_ns, range->to_unix_ns, &windows);

	err = err < 0 ? err : history_gaps_find(&windows, &gaps);
	fprintf(out, "{\"level\":\"%s\",\"windows\":[", store_level_name(level));
	array_foreach(&windows.list, window)
		fprintf(out, "%s[%.3f,%.3f]", window == windows.list.items ? "" : ",",
			seconds(window->begin_unix_ns), seconds(window->end_unix_ns));
	fprintf(out, "],\"gaps\":[");
	array_foreach(&gaps.list, gap)
		fprintf(out, "%s{\"from\":%.3f,\"to\":%.3f,\"cause\":\"%s\"}",
			gap == gaps.list.items ? "" : ",", seconds(gap->range.from_unix_ns),
			seconds(gap->range.to_unix_ns), cause(gap));
	fprintf(out, "]}\n");
	array_free(&gaps.list);
	array_free(&windows.list);
	return err;
}

/* ---- text ---- */

static void write_time(int64_t unix_ns, FILE *out)
{
	time_t seconds_of = (time_t)(unix_ns / (int64_t)NS_PER_SECOND);
	struct tm calendar;
	char text[32] = "-";

	if (unix_ns && localtime_r(&seconds_of, &calendar))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &calendar);
	fprintf(out, "  %-19s", text);
}

static void write_level(const struct store_state *state, int level,
			const struct store_windows *windows, FILE *out)
{
	fprintf(out, "%-8s  %8zu", store_level_name((enum store_level)level),
		state->windows[level]);
	write_time(state->oldest_unix_ns[level], out);
	write_time(windows->list.count ? windows->list.items[windows->list.count - 1].end_unix_ns
				       : 0,
		   out);
	fprintf(out, "  %8.1f MiB\n", (double)state->bytes[level] / (1 << 20));
}

static void write_gaps(const struct history_gaps *gaps, FILE *out)
{
	size_t first = gaps->list.count > LIST_MAX ? gaps->list.count - LIST_MAX : 0;

	for (size_t i = first; i < gaps->list.count; i++) {
		const struct history_gap *gap = &gaps->list.items[i];

		fprintf(out, "gap of %.0f s (%s)",
			seconds(gap->range.to_unix_ns - gap->range.from_unix_ns), cause(gap));
		write_time(gap->range.from_unix_ns, out);
		write_time(gap->range.to_unix_ns, out);
		fputc('\n', out);
	}
	if (first)
		fprintf(out, "and %zu gaps before these\n", first);
}

int window_list_write_text(struct store *store, const struct history_range *range, FILE *out)
{
	struct store_state state;
	int err = 0;

	store_get_state(store, &state);
	fprintf(out, "%-8s  %8s  %-19s  %-19s  %12s\n", "level", "windows", "from", "to", "size");
	for (int level = 0; level < STORE_LEVELS && err == 0; level++) {
		struct store_windows windows;

		err = store_list(store, (enum store_level)level, range->from_unix_ns,
				 range->to_unix_ns, &windows);
		write_level(&state, level, &windows, out);
		array_free(&windows.list);
	}
	for (int level = 0; level < STORE_LEVELS && err == 0; level++) {
		struct history_gaps gaps = {0};
		struct store_windows windows;

		/* The finest level that there is knows best. */
		if (!state.windows[level])
			continue;
		err = store_list(store, (enum store_level)level, range->from_unix_ns,
				 range->to_unix_ns, &windows);
		err = err < 0 ? err : history_gaps_find(&windows, &gaps);
		write_gaps(&gaps, out);
		array_free(&gaps.list);
		array_free(&windows.list);
		break;
	}
	if (state.unreadable_files)
		fprintf(out, "%" PRIu64 " segments cannot be read\n", state.unreadable_files);
	return err;
}
