// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_budget.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "process/process_table.h"
#include "source/regions/budget_file.h"
#include "source/regions/function_price.h"
#include "source/regions/region_files.h"

#define ENDING_NS (1 * NS_PER_SECOND)
/* Each has a descriptor and its probes. */
#define FILES_MAX 256

struct region_budget {
	struct region_budget_options options;
	ARRAY_OF(struct budget_file *) files;
	struct region_budget_tables tables;
	struct function_price price;
	struct region_duties duties;
	uint64_t sequence, slice_ns; /* number and begin of the slice */
};

int region_budget_new(const struct region_budget_options *options,
		      struct region_budget **ret_budget)
{
	struct region_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return -ENOMEM;
	budget->options = *options;
	*ret_budget = budget;
	return 0;
}

void region_budget_begin(struct region_budget *budget, const struct region_budget_tables *tables)
{
	budget->tables = *tables;
	budget->slice_ns = clock_now_ns();
	budget->price = function_price_measure(budget->options.probes,
					       &tables->sites[tables->spare], tables->spare);
}

/* ---- probes ---- */

static int put_on(struct region_budget *budget, int fd, const struct region_sites *sites,
		  struct region_probes **probes, struct error *error)
{
	int err = region_probes_copy(budget->options.probes, probes);

	if (err)
		return error_set(error, -err, "out of memory");
	err = region_probes_add(*probes, fd, sites, error);
	if (!err)
		return 0;
	region_probes_free(*probes);
	*probes = NULL;
	return err;
}

static void take_off(struct region_probes **probes)
{
	region_probes_free(*probes);
	*probes = NULL;
}

/* Nothing may begin that cannot end. */
static int watch(struct region_budget *budget, struct budget_file *file, struct error *error)
{
	int err = file->end_probes
			  ? 0
			  : put_on(budget, file->fd, &file->ends, &file->end_probes, error);

	err = err ? err : put_on(budget, file->fd, &file->begins, &file->begin_probes, error);
	if (err)
		return err;
	file->was_watched = true;
	return 0;
}

static void leave(struct budget_file *file, uint64_t now_ns)
{
	take_off(&file->begin_probes);
	file->off_ns = now_ns;
}

/* ---- files ---- */

/* Makes room by a file that no process has mapped any more. false: there is none. */
static bool let_go_one(struct region_budget *budget)
{
	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;

		if (budget_file_is_mapped(file, budget->options.processes))
			continue;
		region_files_forget(budget->options.files, &file->stat);
		budget_file_free(file);
		*item = budget->files.items[--budget->files.count];
		return true;
	}
	return false;
}

int region_budget_take(struct region_budget *budget, const struct region_budget_file *new_file,
		       struct error *error)
{
	struct budget_file *file, **item = NULL;
	int err;

	if (budget->files.count == FILES_MAX && !let_go_one(budget))
		return error_set(error, ENOSPC, "%d files with regions are watched already",
				 FILES_MAX);
	file = budget_file_new(new_file, error);
	if (!file)
		return -ENOMEM;
	budget->tables.sites[new_file->number] = (struct pkbpf_span_site){.role = PKBPF_SITE_OFF};
	err = watch(budget, file, error);
	if (!err)
		item = array_add(&budget->files);
	if (item) {
		*item = file;
		return 0;
	}
	budget_file_free(file);
	return err ? err : error_set(error, ENOMEM, "out of memory");
}

void region_budget_note(struct region_budget *budget, int fd, uint32_t mapped_file)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return;
	array_foreach(&budget->files, file)
		if (budget_file_is(*file, &stat))
			budget_file_note_id(*file, mapped_file);
}

/* ---- costs ---- */

static uint64_t take_hits(struct region_budget *budget, uint64_t number)
{
	return __atomic_exchange_n((uint64_t *)&budget->tables.sites[number].hits, 0,
				   __ATOMIC_RELAXED);
}

/* Of pairs; the kernel emulates the instructions that are probed, but for functions. */
static uint64_t take_cost_of(struct region_budget *budget, const struct region_sites *sites)
{
	const struct function_price *price = &budget->price;
	uint64_t cost_ns = 0;

	array_foreach(&sites->items, site)
		if (site->role == REGION_SITE)
			cost_ns += take_hits(budget, site->cookie) *
				   ((site->is_stepped ? price->stepped_ns : price->emulated_ns) +
				    price->program_ns);
	return cost_ns;
}

static void add_cost(struct region_budget *budget, struct budget_file *file)
{
	uint64_t hits = take_hits(budget, file->number);

	file->cost_ns += hits * (budget->price.emulated_ns + budget->price.program_ns) +
			 take_cost_of(budget, &file->begins) + take_cost_of(budget, &file->ends);
}

static uint64_t allowed_ns(const struct region_budget *budget, uint64_t length_ns)
{
	return length_ns / 1000 * budget->options.cost_ppm / 1000;
}

void region_budget_poll(struct region_budget *budget, uint64_t now_ns)
{
	/* As if the slice ended now, but for its first second. */
	uint64_t length_ns = now_ns - budget->slice_ns;
	uint64_t most_ns =
		REGION_DUTY_BURST *
		allowed_ns(budget, length_ns > NS_PER_SECOND ? length_ns : NS_PER_SECOND);

	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;

		add_cost(budget, file);
		if (file->begin_probes && file->cost_ns > most_ns)
			leave(file, now_ns);
		if (!file->begin_probes && file->end_probes && now_ns - file->off_ns > ENDING_NS)
			take_off(&file->end_probes);
	}
}

/* ---- slices ---- */

static bool has_mapped(const struct region_budget *budget, const struct budget_file *file,
		       uint32_t pid)
{
	struct process_table *processes = budget->options.processes;

	return budget_file_is_mapped_by(file, processes, process_table_find(processes, pid));
}

void region_budget_cut(struct region_budget *budget, uint64_t now_ns,
		       const volatile struct pkbpf_span_row *rows, uint32_t row_count,
		       struct region_gap_names *gaps)
{
	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;

		add_cost(budget, file);
		budget_file_note_names(file, budget->options.processes, rows, row_count);
		if (file->off_ns) {
			file->missed_ns +=
				now_ns -
				(file->off_ns > budget->slice_ns ? file->off_ns : budget->slice_ns);
		}
		if (file->missed_ns)
			region_gap_names_join(gaps, &file->names, file->missed_ns);
	}
}

/* Of processes that are no more. */
static void sweep_gaps(const struct region_budget *budget)
{
	uint32_t pid, next;
	bool has_key = false;

	/* One that is deleted would begin the walk anew: its successor is asked for first. */
	for (;;) {
		int err =
			bpf_map_get_next_key(budget->tables.gaps_fd, has_key ? &pid : NULL, &next);
		const struct process *process =
			has_key ? process_table_find(budget->options.processes, pid) : NULL;

		if (has_key && (!process || process->end_ns))
			bpf_map_delete_elem(budget->tables.gaps_fd, &pid);
		if (err)
			return;
		pid = next;
		has_key = true;
	}
}

/* What is open in the processes of a file has ended unseen, perhaps. false: that cannot be said. */
static bool forget_open(const struct region_budget *budget, const struct budget_file *file,
			uint64_t now_ns, const volatile struct pkbpf_span_row *rows,
			uint32_t row_count)
{
	uint32_t last = 0;

	sweep_gaps(budget);
	__atomic_store_n(budget->tables.has_gaps, 1, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < row_count; i++) {
		uint32_t pid = rows[i].pid;

		if (!pid || pid == last || !has_mapped(budget, file, pid))
			continue;
		last = pid;
		if (bpf_map_update_elem(budget->tables.gaps_fd, &pid, &now_ns, BPF_ANY))
			return false;
	}
	return true;
}

static void watch_again(struct region_budget *budget, struct budget_file *file, uint64_t now_ns,
			const volatile struct pkbpf_span_row *rows, uint32_t row_count)
{
	struct error error;

	/* Without ends in between, nothing was missed of what is open. */
	if (budget_file_lacks_ends(file) && !forget_open(budget, file, now_ns, rows, row_count))
		return;
	if (watch(budget, file, &error) < 0)
		log_info(budget->options.log, "cannot watch regions again: %s", error.text);
	else
		file->off_ns = 0;
}

static void say_duty(const struct region_budget *budget, struct budget_file *file)
{
	if (file->duty.shift == file->said_shift)
		return;
	file->said_shift = file->duty.shift;
	log_warning(
		budget->options.log,
		"regions of %s are watched in 1 of %u slices: their probes may cost %.2f %% of a "
		"CPU",
		file->path, 1U << file->said_shift, budget->options.cost_ppm / 1e4);
}

static void step(struct region_budget *budget, uint64_t length_ns)
{
	struct region_duty *duties[FILES_MAX];
	size_t count = 0;

	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;

		if (file->was_watched)
			file->duty.cost_ns = file->cost_ns;
		duties[count++] = &file->duty;
	}
	if (!region_duties_step(&budget->duties, duties, count, allowed_ns(budget, length_ns),
				length_ns))
		return;
	array_foreach(&budget->files, item)
		say_duty(budget, *item);
}

void region_budget_choose(struct region_budget *budget, uint64_t now_ns,
			  const volatile struct pkbpf_span_row *rows, uint32_t row_count)
{
	step(budget, now_ns - budget->slice_ns);
	budget->sequence++;
	budget->slice_ns = now_ns;
	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;
		bool wanted = region_duty_watches(&file->duty, file->stat.st_ino, budget->sequence);

		file->cost_ns = file->missed_ns = 0;
		file->was_watched = file->begin_probes != NULL && wanted;
		if (file->begin_probes && !wanted)
			leave(file, now_ns);
		else if (!file->begin_probes && wanted)
			watch_again(budget, file, now_ns, rows, row_count);
	}
}

void region_budget_remove(struct region_budget *budget)
{
	array_foreach(&budget->files, file) {
		take_off(&(*file)->begin_probes);
		take_off(&(*file)->end_probes);
	}
}

void region_budget_free(struct region_budget *budget)
{
	if (!budget)
		return;
	array_foreach(&budget->files, file)
		budget_file_free(*file);
	array_free(&budget->files);
	free(budget);
}
