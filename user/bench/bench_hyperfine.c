// SPDX-License-Identifier: BSD-2-Clause
/* The layout of hyperfine's --export-json, for the scripts that read it: times in seconds. */
#include <stdlib.h>

#include "bench/bench_format.h"
#include "export/json/json_writer.h"

static void write_times(struct json_writer *writer, const struct bench *bench, uint32_t variant)
{
	json_writer_array_begin(writer, "times");
	array_foreach(&bench->runs, run)
		if (run->variant == variant && bench_run_counts(run))
			json_writer_real(writer, NULL, run->values[BENCH_WALL] / 1e9);
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "memory_usage_byte");
	array_foreach(&bench->runs, run)
		if (run->variant == variant && bench_run_counts(run))
			json_writer_u64(writer, NULL, (uint64_t)run->values[BENCH_PEAK_RSS]);
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "exit_codes");
	array_foreach(&bench->runs, run)
		if (run->variant == variant && bench_run_counts(run))
			json_writer_i64(writer, NULL, run->status);
	json_writer_array_end(writer);
}

static int write_variant(struct json_writer *writer, const struct bench *bench, uint32_t variant)
{
	const struct bench_variant *row = &bench->variants.items[variant];
	struct bench_summary wall, user, system;
	int err = bench_summarize(bench, variant, BENCH_WALL, &wall);

	if (err == 0)
		err = bench_summarize(bench, variant, BENCH_USER, &user);
	if (err == 0)
		err = bench_summarize(bench, variant, BENCH_SYSTEM, &system);
	if (err < 0 || !wall.count)
		return err;
	json_writer_object_begin(writer, NULL);
	json_writer_string(writer, "command", row->label);
	json_writer_real(writer, "mean", wall.mean / 1e9);
	json_writer_real(writer, "stddev", wall.deviation / 1e9);
	json_writer_real(writer, "median", wall.median / 1e9);
	json_writer_real(writer, "user", user.mean / 1e9);
	json_writer_real(writer, "system", system.mean / 1e9);
	json_writer_real(writer, "min", wall.min / 1e9);
	json_writer_real(writer, "max", wall.max / 1e9);
	write_times(writer, bench, variant);
	if (row->parameters.count) {
		json_writer_object_begin(writer, "parameters");
		array_foreach(&row->parameters, parameter)
			json_writer_string(writer, parameter->name, parameter->value);
		json_writer_object_end(writer);
	}
	json_writer_object_end(writer);
	return 0;
}

static int hyperfine_write(const struct bench_document *document, FILE *out)
{
	struct json_writer writer = {.out = out};
	int err = 0;

	json_writer_object_begin(&writer, NULL);
	json_writer_array_begin(&writer, "results");
	for (uint32_t i = 0; i < document->bench->variants.count && err == 0; i++)
		err = write_variant(&writer, document->bench, i);
	json_writer_array_end(&writer);
	json_writer_object_end(&writer);
	fputc('\n', out);
	return err;
}

const struct bench_format_ops bench_format_hyperfine = {
	.file = {"hyperfine", ".hyperfine.json", "the layout of hyperfine --export-json"},
	.write = hyperfine_write,
};
