// SPDX-License-Identifier: BSD-2-Clause
/* `pkbpf serve`: profiles all the time, keeps the history and answers over HTTP. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_io.h"
#include "cli/exit_status.h"
#include "cli/option_check.h"
#include "cli/serve_config.h"
#include "cli/serve_defaults.h"
#include "cli/serve_limits.h"
#include "cli/serve_private.h"
#include "profile/kind_table.h"
#include "web/web.h"

#define STORE_MIN_BYTES (16ULL << 20)
#define STORE_MAX_BYTES (1ULL << 40)
#define SLICE_MIN_NS	(1 * NS_PER_SECOND)
#define SLICE_MAX_NS	(60 * NS_PER_SECOND)
#define FREQUENCY_HZ	19

/* Off-CPU costs most: who wants it all the time says so. */
uint32_t serve_kinds(const struct cli_options *options)
{
	const struct source_ops *source;
	uint32_t kinds_mask = 0;

	for (size_t i = 0; i < options->source_count; i++)
		kinds_mask |= 1U << options->sources[i]->kind;
	for (size_t i = 0; !options->source_count && (source = source_at(i)); i++)
		if (source->kind != PKBPF_PROFILE_OFFCPU && !source->by_request)
			kinds_mask |= 1U << source->kind;
	return kinds_mask;
}

static int serve_run(const struct cli_options *options, struct console *console)
{
	const struct serve_options *own = options->own;
	struct serving serving = {.console = console, .log = console_log(console)};
	int status = EXIT_STATUS_DONE;

	serving_choose(&serving, options);
	if (own->check_config) {
		console_note(console, "%s is fine", own->config);
	} else {
		status = serving_prepare(&serving);
		if (status == EXIT_STATUS_DONE)
			status = serving_collect(&serving);
		status = serving_end_front(&serving, status);
	}
	serving_done(&serving);
	free(own->text);
	free(own->applied);
	return status;
}

static int read_config(struct serve_options *own, struct error *error)
{
	size_t size;
	int err = file_read_all(AT_FDCWD, own->config, SERVE_CONFIG_MAX_BYTES, &own->text, &size);

	if (err < 0)
		return error_set(error, -err, "cannot read --config %s: %s", own->config,
				 strerror(-err));
	own->applied = strdup(own->text);
	return own->applied ? 0
			    : error_set(error, ENOMEM, "cannot read the options: out of memory");
}

/* What only programs have that are started or named for it. */
static int check_kinds(uint32_t kinds_mask, struct error *error)
{
	static const enum pkbpf_profile_kind refused[] = {PKBPF_PROFILE_ALLOC, PKBPF_PROFILE_LIVE,
							  PKBPF_PROFILE_CALLS};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (kinds_mask & 1U << refused[i])
			return error_set(error, EINVAL,
					 "serve cannot record %s, which needs chosen programs: "
					 "expected cpu, offcpu, blockio, faults, network or memory",
					 kind_ops_of(refused[i])->name);
	/* Rows of locks stay until the end. */
	if (kinds_mask & 1U << PKBPF_PROFILE_LOCKS)
		return error_set(error, EINVAL,
				 "serve cannot record locks: use pkbpf -e locks for a while");
	return 0;
}

/* With the options of the file in place. */
static int check_rules(const struct cli_options *options, const struct serve_config *config,
		       struct error *error)
{
	const struct serve_options *own = options->own;
	uint64_t slice_ns = own->slice_ns ? own->slice_ns : SERVE_SLICE_NS;
	uint32_t kinds_mask = serve_kinds(options);
	bool regions = options->live.sources.regions.wanted;
	int err = alert_rules_check(&config->rules, slice_ns, kinds_mask, regions, error);

	return err < 0 ? err : objectives_check(&config->objectives, kinds_mask, regions, error);
}

static int check_config(struct cli_options *options, struct error *error)
{
	struct serve_options *own = options->own;
	struct serve_config config;
	struct error inner;
	int err;

	if (own->check_config && !own->config)
		return error_set(error, EINVAL, "--check-config requires --config");
	if (!own->config)
		return 0;
	err = read_config(own, error);
	if (err < 0)
		return err;
	err = serve_config_apply(&command_serve, own->applied, options, &inner);
	if (err == 0) {
		err = serve_config_read(own->text, &config, &inner);
		err = err < 0 ? err : check_rules(options, &config, &inner);
		err = err < 0 ? err
			      : serve_limits_choose(&config, &options->live.sources.regions.limits,
						    &inner);
		serve_config_done(&config);
	}
	return err < 0 ? error_set(error, EINVAL, "%s: %s", own->config, inner.text) : 0;
}

/* "0.5%" of one CPU */
static int parse_regions_cost(void *context, const char *value, struct error *error)
{
	struct serve_options *own = context;
	double percent;
	int used = 0;

	if (sscanf(value, "%lf%%%n", &percent, &used) != 1 || !used || value[used] ||
	    !(percent >= 0.01 && percent <= 100))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --regions-cost: expected 0.01%% to 100%%",
				 value);
	own->regions_cost = percent / 100;
	return 0;
}

/* Their probes are on code that anybody calls, and no budget keeps count of them. */
static int check_regions(const struct cli_options *options, struct error *error)
{
	const struct region_options *regions = &options->live.sources.regions;
	const struct serve_options *own = options->own;

	for (size_t i = 0; i < regions->pair_count; i++)
		if (strstr(regions->pairs[i], "=function:"))
			return error_set(error, EINVAL,
					 "serve records no regions between functions (--region "
					 "%s): expected NAME=usdt:PROVIDER:BEGIN..END",
					 regions->pairs[i]);
	if (own->regions_cost && !regions->wanted)
		return error_set(error, EINVAL, "--regions-cost requires --regions");
	return 0;
}

static int check_all(struct cli_options *options, struct error *error)
{
	const struct serve_options *own = options->own;

	if (check_config(options, error) < 0)
		return -EINVAL;
	if (own->slice_ns && (own->slice_ns < SLICE_MIN_NS || own->slice_ns > SLICE_MAX_NS))
		return error_set(error, EINVAL, "invalid value for --interval: expected 1s to 1m");
	if (own->open_metrics && !own->token_file)
		return error_set(error, EINVAL,
				 "--open-metrics requires --token-file: without a "
				 "token, everything is answered");
	if (check_kinds(serve_kinds(options), error) < 0 || check_regions(options, error) < 0 ||
	    web_listen_check(own->listen ? own->listen : SERVE_LISTEN, own->token_file != NULL,
			     error) < 0)
		return -EINVAL;
	if (!option_name_is_given("frequency", options))
		options->live.frequency_hz = FREQUENCY_HZ;
	return options_check_profile(options, error);
}

/* "0.1%" of the machine, or "off" */
static int parse_max_cpu(void *context, const char *value, struct error *error)
{
	struct serve_options *own = context;
	double percent;
	int used = 0;

	if (!strcmp(value, "off")) {
		own->max_cpu = -1;
		return 0;
	}
	if (sscanf(value, "%lf%%%n", &percent, &used) != 1 || !used || value[used] ||
	    !(percent >= 0.01 && percent <= 100))
		return error_set(error, EINVAL,
				 "invalid value '%s' for --max-cpu: expected 0.01%% to 100%%, or "
				 "off",
				 value);
	own->max_cpu = percent / 100;
	return 0;
}

static int serve_check(struct cli_options *options, struct error *error)
{
	struct serve_options *own = options->own;
	int err = check_all(options, error);

	if (err < 0) {
		free(own->text);
		free(own->applied);
		own->text = own->applied = NULL;
	}
	return err;
}

#define SERVE(member) OPTION_AT(struct serve_options, member)

static const struct option_row own_options[] = {
	{0, "listen", "ADDRESS:PORT|PATH", "where to answer; default " SERVE_LISTEN,
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_TEXT, SERVE(listen),
	 .text = "[::1]:PORT for IPv6; a path is a socket in the file system. An address that "
		 "other "
		 "machines reach requires --token-file."},
	{0, "store", "DIR", "folder of the history; default " SERVE_STORE,
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(store), .text = "Made when it is not there. It is given to the user of --run-as."},
	{0, "store-size", "SIZE", "maximum size of the history; default 1G",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_SIZE, SERVE(store_bytes),
	 .least = STORE_MIN_BYTES, .most = STORE_MAX_BYTES,
	 .text = "The oldest is deleted first. At most, slices are kept for six hours, minutes for "
		 "three days, tens of minutes for three weeks, hours for 400 days."},
	{0, "max-cpu", "PERCENT|off",
	 "leave out detail while serve costs more than this share of all CPUs; default 0.1%",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_max_cpu,
	 SERVE(max_cpu),
	 .text = "The default is 0.2 % of one CPU where that is more. A minute (six slices) above "
		 "it, or a slice above ten times as much, leaves out, one after the other: stacks "
		 "of wakers and of frequent waits; 7 of 8 and then 63 of 64 stacks of page faults; "
		 "7 of 8 stacks of block requests; all stacks of page faults; half and then 3 of 4 "
		 "of the CPU samples; all block requests; all waits. To leave out a kind restarts "
		 "the capture. After "
		 "ten minutes below half of the limit, the latest step is undone. The first minute "
		 "is not judged. Each step is in the log, in the metric pkbpf_detail_step, and in "
		 "reports of that time. Counts, "
		 "CPU "
		 "time, memory and I/O of processes stay exact."},
	{0, "regions-cost", "PERCENT",
	 "with --regions: what their probes may cost, in percent of one CPU; default 0.5%",
	 .group = OPTION_GROUP_EVENTS, .form = OPTION_PARSED, .parse = parse_regions_cost,
	 SERVE(regions_cost),
	 .text = "Hits of the probes of each file, multiplied by the time that one takes here. "
		 "Above it, the file that costs most is watched in 1 of 2, 4, ... 1,024 slices, "
		 "chosen at random; a slice that costs ten times as much ends early. Windows have "
		 "what was watched and say for how long; counts are never scaled. After ten "
		 "minutes below half of it, a step is undone."},
	{0, "config", "FILE", "options, alerts and who is told of them; see CONFIGURATION",
	 .group = OPTION_GROUP_GENERAL, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(config), .text = "SIGHUP reads it again. The command line overrides it."},
	{0, "check-config", NULL, "check the configuration and do nothing",
	 .group = OPTION_GROUP_GENERAL, .form = OPTION_FLAG, SERVE(check_config)},
	{0, "token-file", "FILE", "answer only requests with the token in FILE",
	 .group = OPTION_GROUP_OUTPUT, .completes = OPTION_COMPLETES_FILE, .form = OPTION_TEXT,
	 SERVE(token_file), .text = "Refused where every user can read it."},
	{0, "open-metrics", NULL, "with --token-file: answer /metrics without the token",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, SERVE(open_metrics),
	 .text = "They name programs, containers and units; stacks and reports still need it."},
	{0, "run-as", "USER",
	 "the user that answers, writes the history and runs commands of alerts",
	 .group = OPTION_GROUP_GENERAL, .form = OPTION_TEXT, SERVE(run_as),
	 .text = "As root only. By default the owner of the store; if that is root, the account "
		 "pkbpf, or an unused user id. It stays root, without capabilities, if "
		 "commands of [notify] or files of [push] lie where root alone may use them; "
		 "'root' asks for that."},
	{0, "inline", NULL, "show inlined functions: reads the debug information of each program",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_FLAG, SERVE(inlines)},
	{'s', "interval", "TIME", "length of a slice, 1s to 1m; default 10s",
	 .group = OPTION_GROUP_OUTPUT, .form = OPTION_DURATION, SERVE(slice_ns)},
	{0},
};

const struct command_row command_serve = {
	.name = "serve",
	.synopsis = "serve [OPTIONS]",
	.summary = "Profiles all the time: keeps a history and answers over HTTP",
	.options =
		(const char *const[]){
			"pid",		 "children",	 "no-children", "tid",
			"cgroup",	 "container",	 "comm",	"events",
			"regions",	 "region",	 "frequency",	"duration",
			"user",		 "kernel",	 "unwind",	"gpu",
			"unwind-tables", "python",	 "slow-io",	"wakers",
			"min-block",	 "max-overhead", "max-memory",	"kernel-threads",
			"quiet",	 "verbose",	 "color",	NULL},
	.words =
		(const struct command_words[]){
			{"events", "kinds of events, separated by commas: cpu, offcpu, blockio, "
				   "faults, network, memory; default: cpu,blockio,faults"},
			{"frequency", "CPU samples per second on each CPU; default 19"},
			{"no-children", "with --pid: only that process, without forked workers"},
			{NULL, NULL},
		},
	.own_options = own_options,
	.own_size = sizeof(struct serve_options),
	.check = serve_check,
	.run = serve_run,
};
