// SPDX-License-Identifier: BSD-2-Clause
/* A command line from bytes: words end in NUL or newline. Whatever it says is parsed, planned, or
 * refused in a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option_parser.h"
#include "source/source.h"

#define MAX_WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A plan must name a file and a format for whatever it accepts. */
static void plan_outputs(const struct cli_options *options)
{
	const struct source_ops *cpu = source_at(0);
	struct output_plan *plan;
	struct error error = {0};

	if (output_plan_new(options->outputs.items, options->outputs.count,
			    options->source_count ? options->sources : &cpu,
			    options->source_count ? options->source_count : 1, &plan, &error) < 0) {
		if (!*error.text)
			abort();
		return;
	}
	for (size_t i = 0; output_plan_path(plan, i); i++) {
		if (!output_plan_format(plan, i))
			abort();
	}
	output_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[MAX_WORDS + 1] = {NULL};
	char *text = malloc(size + 1);
	const struct command_row *command =
		size && data[0] == '!' ? &command_doctor : &command_profile;
	struct cli_options options;
	struct error error = {0};
	int argc = 0;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0, start = 0; i <= size && argc < MAX_WORDS; i++) {
		if (text[i] && text[i] != '\n')
			continue;
		text[i] = '\0';
		argv[argc++] = text + start;
		start = i + 1;
	}
	cli_options_init(&options);
	if (options_parse(command, argc, argv, &options, &error) < 0) {
		if (!*error.text)
			abort();
	} else if (!options.show_help && !options.show_version && command == &command_profile) {
		/* What the rest of the program relies on. */
		if (!options.outputs.count || !options.live.frequency_hz || !options.top ||
		    options.source_count > PKBPF_PROFILE_KINDS ||
		    (options.live.targets.command && !options.live.targets.command[0]))
			abort();
		plan_outputs(&options);
	}
	cli_options_done(&options);
	free(text);
	return 0;
}
