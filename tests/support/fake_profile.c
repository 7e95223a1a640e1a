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

char *fake_profile_write_by(const struct fake_profile *fake, const char *name, enum rows_by by,
			    const struct format_options *options)
{
	static const struct format_options usual = {
		.kind = PKBPF_PROFILE_CPU, .top = 10, .full = true};
	const struct format_ops *format = format_by_name(name);
	struct results results;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	require(format && out, "no such format");
	results_init(&results, fake->profile, by);
	require(!format->write(&results, options ? options : &usual, out), "writing failed");
	results_done(&results);
	require(!fclose(out), "out of memory");
	return text;
}

char *fake_profile_write(const struct fake_profile *fake, const char *name,
			 const struct format_options *options)
{
	return fake_profile_write_by(fake, name, ROWS_BY_PROCESS, options);
}
