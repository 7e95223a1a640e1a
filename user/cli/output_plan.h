/* SPDX-License-Identifier: BSD-2-Clause */
/* Output files and their formats: opened before profiling starts, written at its end. */
#ifndef PKBPF_CLI_OUTPUT_PLAN_H
#define PKBPF_CLI_OUTPUT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/console.h"
#include "cli/output_request.h"
#include "live/invoking_user.h"
#include "export/format.h"
#include "source/source.h"

struct output_plan;

/*
 * Requests become files: a format that holds one kind gets one file per kind ("app.cpu.folded")
 * when there are several, and the first kind when it goes to stdout. kinds are in the order asked
 * for; everything is copied but the source rows. -EINVAL: wrong usage.
 */
int output_plan_new(const struct output_request *requests, size_t request_count,
		    const struct source_ops *const *kinds, size_t kind_count,
		    struct output_plan **ret_plan, struct error *error);
/* Opens every output, so that what cannot be written is known before the work is done. %t in a path
 * is the time now. */
int output_plan_open(struct output_plan *plan, struct error *error);
/* Opens the outputs of an interval that began then: %t in a path is that time, in UTC. Those with
 * such a path are opened instead of what output_plan_open() has opened. */
int output_plan_open_interval(struct output_plan *plan, int64_t start_unix_ns, struct error *error);
/* After an interval is written: removes what was written more than so many intervals ago, this one
 * included; 0: nothing. -errno of the first that cannot be removed. */
int output_plan_keep(struct output_plan *plan, unsigned int intervals, struct error *error);
/* Does any output show what processes have used of CPU, memory and I/O (profile_resources())? */
bool output_plan_shows_resources(const struct output_plan *plan);
/* The name of a format of one kind that goes to stdout, where several kinds are recorded: it has
 * the first of them only. NULL: there is none. */
const char *output_plan_cut_format(const struct output_plan *plan);
/* Does some output show calls of GPU libraries? */
bool output_plan_shows_gpu_calls(const struct output_plan *plan);
/* Is any output written slice by slice? Is any written of all slices together? */
bool output_plan_takes_slices(const struct output_plan *plan);
bool output_plan_takes_whole(const struct output_plan *plan);
/* Do all outputs go to stdout? */
bool output_plan_is_for_stdout(const struct output_plan *plan);
/* Is a report for people among what goes to stdout? */
bool output_plan_reports_to_stdout(const struct output_plan *plan);

struct output_settings {
	struct format_options options; /* kind, color and width are set per file */
	enum color_choice color;
};

/* Reports tell what the run has cost, which the writing of stacks adds to: they come last. */
enum output_part { OUTPUT_STACKS, OUTPUT_REPORTS };

/* Appends a slice to the outputs that are written slice by slice. One that fails is told to the
 * console, keeps what it has and takes no more. Returns the first failure of this call. */
int output_plan_add_slice(struct output_plan *plan, const struct profile *slice,
			  const struct format_options *options, struct console *console);
/* Has every output failed, so that there is nothing left to record for? */
bool output_plan_has_failed(const struct output_plan *plan);
/* Writes and finishes all outputs of a part, one after the other; each that fails is told to the
 * console and the others are written all the same. Files are given to user. Returns the first
 * failure; a reader that closed our stdout is none. */
int output_plan_write(struct output_plan *plan, enum output_part part, struct results *results,
		      const struct output_settings *settings, const struct invoking_user *user,
		      struct console *console);
/* Removes what is half-written, from the thread of a dying program. */
void output_plan_set_owner(struct output_plan *plan, const struct invoking_user *user);
void output_plan_abandon(struct output_plan *plan);
void output_plan_free(struct output_plan *plan);

/* For tests and messages: what is planned. NULL behind the last. Borrowed. */
const char *output_plan_path(const struct output_plan *plan, size_t index);
const char *output_plan_format(const struct output_plan *plan, size_t index);

#endif
