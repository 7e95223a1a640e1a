/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of `pkbpf serve`, for its files: the process that collects; serve_front.h is the other one.
 */
#ifndef PKBPF_CLI_SERVE_PRIVATE_H
#define PKBPF_CLI_SERVE_PRIVATE_H

#include <stdatomic.h>

#include "cli/command_table.h"
#include "cli/serve_front.h"
#include "cli/serve_governor.h"
#include "cli/stop_signals.h"
#include "live/live_run.h"

/* As given by command line and configuration. */
struct serve_options {
	const char *listen, *store, *token_file, *config, *run_as;
	uint64_t store_bytes, slice_ns;
	double regions_cost; /* share of a CPU; 0: the default */
	double max_cpu;	     /* share of the machine; 0: the default; < 0: no limit */
	bool check_config, inlines, open_metrics;
	char *text;    /* of the configuration */
	char *applied; /* the same, taken apart: options borrow from it */
};

struct serving {
	const struct cli_options *options;
	/* Of a configuration that was read again, NULL: none: in use, and the last one. */
	struct cli_options *used, *reread;
	struct serve_options own;
	struct serve_options first; /* with which the front began */
	struct console *console;
	struct log log;
	struct live_options live;
	char *token; /* NULL: none */
	struct stop_signals *signals;
	struct live_run *run;
	struct serve_front front;
	bool has_front;
	atomic_bool hangup; /* the configuration is to be read again */
	struct serve_governor governor;
	uint32_t asked;	       /* kinds, of which the governor may shed some */
	uint64_t front_cpu_ns; /* the last time it was read */
	bool restarts;	       /* the capture ends to begin with other options */
	bool has_said_where;
	/* what was left out of the slice that runs; "": nothing */
	char left_out[PROFILE_SHED_SIZE];
	unsigned int left_out_steps;
	int err; /* the front has ended */
};

/* Kinds of events that the options ask for. */
uint32_t serve_kinds(const struct cli_options *options);
/* Prints the sentence; returns the status. */
int serving_fail(const struct serving *serving, const struct error *error, int status);
/* Takes on what the options say and the governor leaves of it. */
void serving_choose(struct serving *serving, const struct cli_options *options);
/* Starts the front and has a capture ready. Returns an exit status. */
int serving_prepare(struct serving *serving);
/* Names of options that differ and that only another start takes on: "listen, token-file"; "":
 * none.
 */
#define SERVE_FIXED_SIZE 64
void serve_fixed_changes(const struct serve_options *before, const struct serve_options *after,
			 char ret_names[SERVE_FIXED_SIZE]);
/* Options that were not given become those by default. */
void serve_options_complete(struct serve_options *own);
/* Reads the configuration again, since somebody asked for it. */
void serving_reload(struct serving *serving);
/* Has a capture ready that follows one which has ended. The front goes on: where it listens and
 * writes stays. Negative errno with the sentence. */
int serving_begin_anew(struct serving *serving, struct error *error);
/* Captures until the end. Returns an exit status. */
int serving_collect(struct serving *serving);
int serving_end_front(struct serving *serving, int status);
void serving_done(struct serving *serving);

#endif
