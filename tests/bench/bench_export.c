// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what each format costs for a large profile: 1,000,000 CPU samples of 100,000 distinct
 *stacks, 20 to 60 frames deep, of 10,000 functions.
 *
 *	bench_export [STACKS [SAMPLES [FORMAT [FILE]]]]
 *
 * One row per format: CPU time, the size of the file, and the most memory that the process ever had
 *resident; each format is written by a process of its own. As a peer, `sort` orders the lines of
 *the folded stacks. FILE keeps what was written, for bench_page.py.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "export/format.h"
#include "process/process_table.h"
#include "profile/profile.h"
#include "symbol/symbolizer.h"

#define FUNCTIONS 10000U
#define DEPTH_MIN 20U
#define DEPTH_MAX 60U

static char names[FUNCTIONS][64];
static struct symbol_line lines[FUNCTIONS];

static bool resolve(struct symbolizer *symbolizer, const struct frame_location *location,
		    struct symbol *ret_symbol)
{
	(void)symbolizer;
	*ret_symbol = (struct symbol){.module = "app",
				      .module_address = location->address,
				      .lines = &lines[location->address % FUNCTIONS],
				      .line_count = 1};
	return true;
}

static const struct symbolizer_ops symbols = {.name = "bench", .resolve = resolve};

static uint64_t random_state = 88172645463325252U;

static uint32_t random_below(uint32_t bound)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state % bound);
}

/* A stack begins as the one before it, and goes on in a way of its own: neighbours share callers,
 * as in a program. */
static uint32_t next_stack(struct profile *profile, uint32_t path[DEPTH_MAX], uint32_t *depth)
{
	uint32_t kept = *depth ? random_below(*depth) : 0, frames[DEPTH_MAX];
	uint32_t wanted = DEPTH_MIN + random_below(DEPTH_MAX - DEPTH_MIN + 1);

	if (kept > wanted)
		kept = wanted;
	for (uint32_t i = kept; i < wanted; i++) {
		struct frame_location location = {.space = FRAME_FILE,
						  .address = random_below(i < 8 ? 8 : FUNCTIONS)};

		path[i] = profile_intern_frame(profile, &location);
	}
	*depth = wanted;
	for (uint32_t i = 0; i < wanted; i++)
		frames[i] = path[wanted - 1 - i];
	return profile_intern_stack(profile, frames, wanted);
}

static struct profile *make_profile(struct process_table *processes, uint32_t stacks,
				    uint32_t samples)
{
	struct symbolizer symbolizer = {.ops = &symbols};
	struct profile *profile = profile_new(processes);
	struct process *process = process_table_get(processes, 100, "app");
	uint32_t path[DEPTH_MAX], depth = 0, comm;

	if (!profile || !process)
		errx(1, "out of memory");
	comm = profile_intern_comm(profile, "app");
	for (uint32_t i = 0; i < stacks; i++) {
		struct profile_row row = {.kind = PKBPF_PROFILE_CPU,
					  .process = process->id,
					  .comm = comm,
					  .stack = next_stack(profile, path, &depth),
					  .count = samples / stacks,
					  .weight = samples / stacks};

		if (profile_add(profile, &row))
			errx(1, "out of memory");
	}
	profile_info(profile)->kinds_mask = 1U << PKBPF_PROFILE_CPU;
	profile_info(profile)->frequency_hz = 99;
	profile_info(profile)->end_ns = 10 * NS_PER_SECOND;
	profile_symbolize(profile, &symbolizer);
	return profile;
}

static double cpu_ms(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

/* In a child, so that each format has its own peak; what making the profile took is its parent's.
 */
static void write_format(const struct format_ops *format, const struct profile *profile,
			 const char *path)
{
	struct format_options options = {.kind = PKBPF_PROFILE_CPU, .top = 10};
	struct results results;
	FILE *out = fopen(path, "w");

	if (!out)
		err(1, "%s", path);
	results_init(&results, profile, ROWS_BY_PROCESS);
	if (format->write(&results, &options, out) || fclose(out))
		errx(1, "%s cannot be written", format->file.name);
	_exit(0);
}

static void print_row(const char *name, pid_t child, const char *path)
{
	struct rusage usage;
	long size = 0;
	FILE *file;
	int status;

	if (wait4(child, &status, 0, &usage) != child || status)
		errx(1, "%s failed", name);
	file = path ? fopen(path, "r") : NULL;
	if (file && !fseek(file, 0, SEEK_END))
		size = ftell(file);
	if (file)
		fclose(file);
	printf("%-12s %8.0f ms %9.1f MB %8.1f MiB\n", name, cpu_ms(&usage), (double)size / 1e6,
	       (double)usage.ru_maxrss / 1024);
}

static void sort_peer(const char *folded)
{
	pid_t child = fork();

	if (!child) {
		setenv("LC_ALL", "C", 1);
		execlp("sort", "sort", "-R", "-o", "/dev/null", folded, (char *)NULL);
		_exit(1);
	}
	print_row("sort -R", child, NULL);
}

int main(int argc, char **argv)
{
	uint32_t stacks = argc > 1 ? (uint32_t)atoi(argv[1]) : 100000;
	uint32_t samples = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000000;
	struct process_table *processes = process_table_new(mapped_file_table_new(""));
	char folded[] = "/tmp/bench_export.XXXXXX", other[] = "/tmp/bench_export.XXXXXX";
	const struct format_ops *format;
	struct profile *profile;
	struct rusage usage;

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "executor::Module%u::function_%u", i % 97, i);
		lines[i] = (struct symbol_line){.function = names[i]};
	}
	if (!stacks || samples < stacks || close(mkstemp(folded)) || close(mkstemp(other)))
		errx(2, "usage: bench_export [STACKS [SAMPLES [FORMAT [FILE]]]]");
	profile = make_profile(processes, stacks, samples);
	getrusage(RUSAGE_SELF, &usage);
	printf("%u samples of %u stacks; the profile itself: %.0f ms, %.1f MiB\n", samples, stacks,
	       cpu_ms(&usage), (double)usage.ru_maxrss / 1024);
	for (size_t i = 0; (format = format_of(format_at(i))); i++) {
		if (argc > 3 && strcmp(argv[3], format->file.name) != 0)
			continue;
		const char *path = argc > 4				 ? argv[4]
				   : strcmp(format->file.name, "folded") ? other
									 : folded;
		pid_t child = fork();

		if (!child)
			write_format(format, profile, path);
		print_row(format->file.name, child, path);
	}
	if (argc <= 3)
		sort_peer(folded);
	unlink(folded);
	unlink(other);
	profile_free(profile);
	return 0;
}
