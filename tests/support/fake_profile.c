// SPDX-License-Identifier: BSD-2-Clause
// Puts the modules from the record stream to the documents together as the program does.
#include "fake_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "fake profile: %s\n", what);
	abort();
}

void fake_profile_init(struct fake_profile *fake, const struct aggregator_options *options)
{
	static const struct aggregator_options usual = {
		.want_user = true, .want_kernel = true, .slow_io_limit = 10};

	memset(fake, 0, sizeof(*fake));
	fake->files = mapped_file_table_new("");
	require(fake->files, "no file table");
	fake->processes = process_table_new(fake->files);
	require(fake->processes, "no process table");
	fake->profile = profile_new(fake->processes);
	require(fake->profile, "no profile");
	fake->aggregator = aggregator_new(options ? options : &usual, fake->profile);
	require(fake->aggregator, "no aggregator");
}

void fake_profile_done(struct fake_profile *fake)
{
	if (fake->symbolizer)
		fake->symbolizer->ops->free(fake->symbolizer);
	aggregator_free(fake->aggregator);
	profile_free(fake->profile);
	process_table_free(fake->processes);
	mapped_file_table_free(fake->files);
}

void fake_profile_name(struct fake_profile *fake, const struct fake_symbol *symbols,
		       size_t symbol_count)
{
	if (!fake->symbolizer)
		fake->symbolizer = fake_symbols_new(symbols, symbol_count, fake->processes);
	profile_symbolize(fake->profile, fake->symbolizer);
}

void fake_profile_run(struct fake_profile *fake, const struct fake_machine *machine,
		      const struct fake_symbol *symbols, size_t symbol_count)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);

	fake_play(machine, &sink);
	fake_profile_name(fake, symbols, symbol_count);
}

char *fake_profile_export(const struct fake_profile *fake, const char *format,
			  const struct export_options *options)
{
	static const struct export_options usual = {.kind = PKBPF_PROFILE_CPU, .top = 10};
	const struct exporter_ops *exporter = exporter_by_name(format);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(exporter && out, "no such exporter");
	require(!exporter->write(fake->profile, options ? options : &usual, out), "export failed");
	require(!fclose(out), "out of memory");
	return text;
}

char *fake_profile_report(const struct fake_profile *fake, const char *format,
			  const struct report_options *options)
{
	static const struct report_options usual = {.top = 10};
	const struct report_ops *report = report_by_name(format);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(report && out, "no such report");
	require(!report->write(fake->profile, options ? options : &usual, out), "report failed");
	require(!fclose(out), "out of memory");
	return text;
}
