// SPDX-License-Identifier: BSD-2-Clause
/* Writes the resource report as one JSON document, described by report.schema.json. */
#include "export/formats.h"
#include "export/json/json_kind.h"

/* Rises when a key changes its meaning or goes; not when one is added. */
#define SCHEMA_VERSION 2

/* Parts that are not known are left out. */
static void write_part(struct json_writer *writer, const char *key, const char *part)
{
	if (part[0])
		json_writer_string(writer, key, part);
}

static void write_findings(struct json_writer *writer, const struct findings *findings)
{
	json_writer_array_begin(writer, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->findings[i];

		json_writer_object_begin(writer, NULL);
		json_writer_string(writer, "rule", finding->rule);
		json_writer_bool(writer, "alarm", finding->is_alarm);
		json_writer_string(writer, "text", finding->text);
		write_part(writer, "who", finding->who);
		json_writer_string(writer, "cause", finding->cause);
		write_part(writer, "place", finding->place);
		if (finding->place_percent > 0)
			json_writer_decimal(writer, "place_percent", finding->place_percent);
		if (finding->place_percent > 0 && finding->place_error > 0)
			json_writer_decimal(writer, "place_error_percent", finding->place_error);
		write_part(writer, "by", finding->by);
		write_part(writer, "evidence", finding->evidence);
		write_part(writer, "next", finding->next);
		if (finding->pid)
			json_writer_u64(writer, "pid", finding->pid);
		json_writer_decimal(writer, "severity_percent", finding->severity);
		if (finding->cost < FINDING_COST_OF_ALL)
			json_writer_decimal(writer, "cost_percent", finding->cost);
		json_writer_object_end(writer);
	}
	json_writer_array_end(writer);
}

static int json_write(struct results *results, const struct format_options *options, FILE *out)
{
	struct json_writer writer = {.out = out};
	const struct findings *findings;
	const struct resource_rows *rows;
	int err = results_rows(results, &rows);

	err = err ? err : results_findings(results, &findings);
	if (err)
		return err;
	json_writer_object_begin(&writer, NULL);
	json_writer_u64(&writer, "schema_version", SCHEMA_VERSION);
	json_writer_object_begin(&writer, "tool");
	json_writer_string(&writer, "name", "pkbpf");
	json_writer_string(&writer, "version", PKBPF_VERSION);
	json_writer_object_end(&writer);
	json_machine(&writer, rows);
	json_figures(&writer, profile_info_read(rows->profile));
	json_disks(&writer, results->profile);
	json_gpus(&writer, results->profile);
	json_cgroup_limits(&writer, results->profile);
	json_events(&writer, results->profile);
	json_counters(&writer, results->profile);
	json_rows(&writer, rows, !options->no_row_stacks);
	err = json_kinds_sections(&writer, rows);
	err = err ? err : json_regions(&writer, results->profile);
	err = err ? err : json_slow_regions(&writer, rows);
	err = err ? err : json_gpu_calls(&writer, rows);
	err = err ? err : json_python_calls(&writer, rows);
	err = err ? err : json_requests(&writer, rows);
	err = err ? err : json_lines(&writer, results);
	write_findings(&writer, findings);
	json_writer_object_end(&writer);
	fputc('\n', out);
	return err;
}

const struct format_ops format_json = {
	.file = {"json", ".json", "resource report, described by report.schema.json"},
	.shows_gpu_calls = true,
	.write = json_write,
};
