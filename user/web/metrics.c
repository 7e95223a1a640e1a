// SPDX-License-Identifier: BSD-2-Clause
/* Adds figures of containers up, and writes them. */
#include "web/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "event/counter_table.h"
#include "rows/figure_table.h"
#include "web/metric_text.h"

/* More groups than that become one: a scrape stays small whatever runs here. */
#define GROUPS_MAX 50
/* A group that has not been seen in so many slices is gone, and its series end. */
#define GROUP_SLICES 360

static const char *const figure_names[METRIC_FIGURES] = {
	"cpu.user",
	"cpu.system",
	"cpu.voluntary",
	"cpu.involuntary",
	"waiting.runqueue",
	"offcpu.disk",
	"offcpu.sleep",
	"blockio.reads",
	"blockio.writes",
	"blockio.read",
	"blockio.written",
	"memory.minor_faults",
	"memory.major_faults",
	"memory.rss",
	"memory.oom_killed",
	"threads.alive",
	"network.messages",
	"network.sent",
	"network.received",
	"network.failures",
	"network.retransmits",
	"network.wait",
	"memory.private",
	"memory.swap",
	"memory.heap_allocated",
	"memory.heap_allocations",
	"memory.heap_live",
	"memory.heap_growth",
	"gpu.time",
	"gpu.memory",
	"gpu.state",
};

static bool is_gauge(const char *name)
{
	static const char *const gauges[] = {
		"memory.rss",	      "memory.private", "memory.swap", "memory.heap_live",
		"memory.heap_growth", "threads.alive",	"gpu.memory"};

	for (size_t i = 0; i < ARRAY_SIZE(gauges); i++)
		if (strcmp(name, gauges[i]) == 0)
			return true;
	return false;
}

/* ---- adding ---- */

/* One that has gone makes room for one that is there: its series end. What was there in the slice
 * before may have its rows of this one still to come. NULL: all are there. */
static struct metric_group *longest_gone(struct metrics *metrics)
{
	struct metric_group *oldest = NULL;

	for (size_t i = 1; i < metrics->groups.count; i++) {
		struct metric_group *group = &metrics->groups.items[i];

		if (group->seen + 1 < metrics->slices && (!oldest || group->seen < oldest->seen))
			oldest = group;
	}
	return oldest;
}

static struct metric_group *group_of(struct metrics *metrics, const char *name)
{
	struct metric_group *group;

	if (!metrics->groups.count) {
		group = array_add(&metrics->groups);
		if (!group)
			return NULL;
		snprintf(group->name, sizeof(group->name), "other");
		group->begin_unix_ns = metrics->slice_unix_ns;
	}
	if (!name[0])
		return metrics->groups.items;
	for (size_t i = 1; i < metrics->groups.count; i++)
		if (strncmp(metrics->groups.items[i].name, name, METRIC_NAME_SIZE - 1) == 0)
			return &metrics->groups.items[i];
	if (metrics->groups.count > GROUPS_MAX)
		group = longest_gone(metrics);
	else
		group = array_add(&metrics->groups);
	if (!group)
		return metrics->groups.items;
	*group = (struct metric_group){.begin_unix_ns = metrics->slice_unix_ns};
	snprintf(group->name, sizeof(group->name), "%.*s", METRIC_NAME_SIZE - 1, name);
	return group;
}

/* Once in a slice, before its rows: a gauge begins anew, also where only a later row has it. */
static void begin_slice(const struct metrics *metrics, struct metric_group *group)
{
	for (size_t i = 0; i < METRIC_FIGURES; i++) {
		if (!is_gauge(figure_names[i]))
			continue;
		group->sums[i] = 0;
		group->known[i] = false;
	}
	group->seen = metrics->slices;
}

static void add_row(struct metrics *metrics, const struct resource_rows *rows,
		    const struct resource_row *row)
{
	struct metric_group *group = group_of(metrics, row->container);

	if (!group)
		return;
	if (group->seen != metrics->slices)
		begin_slice(metrics, group);
	for (size_t i = 0; i < METRIC_FIGURES; i++) {
		const struct figure *figure = figure_find(figure_names[i]);
		double value;

		if (!figure || !figure_value(figure, rows, row, &value))
			continue;
		group->known[i] = true;
		group->sums[i] += value;
	}
}

static void forget_groups(struct metrics *metrics)
{
	size_t kept = 1;

	for (size_t i = 1; i < metrics->groups.count; i++) {
		const struct metric_group *group = &metrics->groups.items[i];

		if (metrics->slices - group->seen < GROUP_SLICES)
			metrics->groups.items[kept++] = *group;
	}
	if (metrics->groups.count)
		metrics->groups.count = kept;
}

static void add_run(struct metrics *metrics, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	struct profile_account account = profile_account(slice);

	metrics->expected += account.expected;
	metrics->recorded += account.recorded;
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++)
		metrics->counters[i] += info->counters[i];
	metrics->collector_cpu_ns += (double)profile_own_cpu_since_start(info);
	metrics->bpf_cpu_ns += (double)info->bpf_cpu_ns;
	metrics->resident_bytes = info->max_resident_bytes;
	metrics->map_bytes = info->bpf_map_bytes;
}

void metrics_add(struct metrics *metrics, const struct resource_rows *rows)
{
	metrics->slices++;
	metrics->slice_unix_ns = profile_info_read(rows->profile)->start_unix_ns;
	add_run(metrics, rows->profile);
	metrics->busy_percent = rows->busy_percent;
	metrics->memory_bytes = rows->machine.memory_bytes;
	metrics->memory_available_bytes = rows->machine.memory_available_bytes;
	for (size_t i = 0; i < rows->all_count; i++)
		add_row(metrics, rows, &rows->items[i]);
	forget_groups(metrics);
	peer_metrics_add(&metrics->peers, rows->profile);
	region_metrics_add(&metrics->regions, rows->profile);
}

/* ---- writing ---- */

/* "offcpu.disk" in nanoseconds becomes "pkbpf_offcpu_disk_seconds_total". */
static void name_of(const struct figure *figure, const char *suffix, char *ret_name, size_t size)
{
	static const char *const units[] = {[FIGURE_NS] = "_seconds",
					    [FIGURE_BYTES] = "_bytes",
					    [FIGURE_PERCENT] = "_percent",
					    [FIGURE_SIGNED_BYTES] = "_bytes",
					    [FIGURE_COUNT] = ""};

	snprintf(ret_name, size, "pkbpf_%s_%s%s%s", figure->group, figure->name,
		 units[figure->unit], suffix);
}

static void write_figure(const struct metrics *metrics, size_t index, bool with_begins, FILE *out)
{
	const struct figure *figure = figure_find(figure_names[index]);
	bool gauge = is_gauge(figure_names[index]), begun = false;
	char name[128];

	if (!figure)
		return;
	name_of(figure, gauge ? "" : "_total", name, sizeof(name));
	array_foreach(&metrics->groups, group) {
		double value = group->sums[index];

		if (!group->known[index] || (gauge && group->seen != metrics->slices))
			continue;
		if (!begun)
			metric_text_head(out, name, gauge ? "gauge" : "counter", figure->summary);
		begun = true;
		if (with_begins && !gauge)
			metric_text_begin(out, group->begin_unix_ns);
		fprintf(out, "%s{container=\"", name);
		metric_text_label(out, group->name);
		fprintf(out, "\"} %.17g\n", figure->unit == FIGURE_NS ? value / 1e9 : value);
	}
}

static void write_losses(const struct metrics *metrics, FILE *out)
{
	bool begun = false;

	metric_text_head(out, "pkbpf_samples_expected_total", "counter",
			 "CPU samples that were due");
	fprintf(out, "pkbpf_samples_expected_total %" PRIu64 "\n", metrics->expected);
	metric_text_head(out, "pkbpf_samples_recorded_total", "counter",
			 "CPU samples that were recorded");
	fprintf(out, "pkbpf_samples_recorded_total %" PRIu64 "\n", metrics->recorded);
	for (size_t i = 0; i < PKBPF_COUNTER_COUNT; i++) {
		if (!PKBPF_IS_LOSS(counter_table[i].loss) || !metrics->counters[i])
			continue;
		if (!begun)
			metric_text_head(out, "pkbpf_lost_total", "counter",
					 "events lost, by cause");
		begun = true;
		fprintf(out, "pkbpf_lost_total{cause=\"");
		metric_text_label(out, counter_table[i].text);
		fprintf(out, "\"} %" PRIu64 "\n", metrics->counters[i]);
	}
	metric_text_head(out, "pkbpf_slices_total", "counter", "slices that were stored or tried");
	fprintf(out, "pkbpf_slices_total %" PRIu64 "\n", metrics->slices);
	metric_text_head(out, "pkbpf_slices_dropped_total", "counter",
			 "slices that the front did not take in time");
	fprintf(out, "pkbpf_slices_dropped_total %" PRIu64 "\n", metrics->dropped);
}

static void write_machine(const struct metrics *metrics, FILE *out)
{
	if (metrics->busy_percent >= 0) {
		metric_text_head(out, "pkbpf_machine_busy_percent", "gauge",
				 "busy CPU time of all CPUs in the last slice");
		fprintf(out, "pkbpf_machine_busy_percent %.17g\n", metrics->busy_percent);
	}
	if (!metrics->memory_bytes)
		return;
	metric_text_head(out, "pkbpf_machine_memory_bytes", "gauge", "memory of the machine");
	fprintf(out, "pkbpf_machine_memory_bytes %" PRIu64 "\n", metrics->memory_bytes);
	metric_text_head(out, "pkbpf_machine_memory_available_bytes", "gauge",
			 "memory that is available");
	fprintf(out, "pkbpf_machine_memory_available_bytes %" PRIu64 "\n",
		metrics->memory_available_bytes);
}

static double own_cpu_seconds(void)
{
	struct timespec used = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void write_self(const struct metrics *metrics, FILE *out)
{
	metric_text_head(out, "pkbpf_self_cpu_seconds_total", "counter",
			 "CPU time of pkbpf itself");
	fprintf(out, "pkbpf_self_cpu_seconds_total{part=\"collector\"} %.9f\n",
		metrics->collector_cpu_ns / 1e9);
	fprintf(out, "pkbpf_self_cpu_seconds_total{part=\"bpf\"} %.9f\n",
		metrics->bpf_cpu_ns / 1e9);
	fprintf(out, "pkbpf_self_cpu_seconds_total{part=\"front\"} %.9f\n", own_cpu_seconds());
	metric_text_head(out, "pkbpf_self_resident_bytes", "gauge",
			 "peak resident memory of the collector");
	fprintf(out, "pkbpf_self_resident_bytes %" PRIu64 "\n", metrics->resident_bytes);
	metric_text_head(out, "pkbpf_self_map_bytes", "gauge", "kernel memory of BPF maps");
	fprintf(out, "pkbpf_self_map_bytes %" PRIu64 "\n", metrics->map_bytes);
	metric_text_head(out, "pkbpf_detail_step", "gauge",
			 "steps of detail that are shed to keep --max-cpu");
	fprintf(out, "pkbpf_detail_step %u\n", metrics->detail_step);
	metric_text_head(out, "pkbpf_config_last_reload_successful", "gauge",
			 "0: the configuration has an error, and the one before is in use");
	fprintf(out, "pkbpf_config_last_reload_successful %d\n", !metrics->config_failed);
	metric_text_head(out, "pkbpf_build_info", "gauge", "version of pkbpf");
	fprintf(out, "pkbpf_build_info{version=\"%s\"} 1\n", PKBPF_VERSION);
}

static void write_store(const struct store_state *store, FILE *out)
{
	metric_text_head(out, "pkbpf_store_bytes", "gauge", "size of the history, by level");
	for (int i = 0; i < STORE_LEVELS; i++)
		fprintf(out, "pkbpf_store_bytes{level=\"%s\"} %" PRIu64 "\n",
			store_level_name((enum store_level)i), store->bytes[i]);
	metric_text_head(out, "pkbpf_store_failing", "gauge",
			 "1 when the last window could not be written");
	fprintf(out, "pkbpf_store_failing %d\n", store->failing != 0);
	metric_text_head(out, "pkbpf_store_clock_ahead_seconds", "gauge",
			 "how far the clock jumped ahead of the history, or behind it (< 0): "
			 "nothing is deleted by age until that has followed");
	fprintf(out, "pkbpf_store_clock_ahead_seconds %.0f\n", (double)store->ahead_ns / 1e9);
	metric_text_head(out, "pkbpf_store_lost_windows_total", "counter",
			 "windows that could not be written");
	fprintf(out, "pkbpf_store_lost_windows_total %" PRIu64 "\n", store->lost_windows);
	metric_text_head(out, "pkbpf_store_unreadable_files", "gauge",
			 "segments that cannot be read");
	fprintf(out, "pkbpf_store_unreadable_files %" PRIu64 "\n", store->unreadable_files);
}

void metrics_write(const struct metrics *metrics, const struct store_state *store, bool with_begins,
		   FILE *out)
{
	for (size_t i = 0; i < METRIC_FIGURES; i++)
		write_figure(metrics, i, with_begins, out);
	peer_metrics_write(&metrics->peers, with_begins, out);
	region_metrics_write(&metrics->regions, with_begins, out);
	write_machine(metrics, out);
	write_losses(metrics, out);
	write_store(store, out);
	write_self(metrics, out);
}

void metrics_done(struct metrics *metrics)
{
	array_free(&metrics->groups);
	peer_metrics_done(&metrics->peers);
	region_metrics_done(&metrics->regions);
}
