// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_budget.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "process/process_table.h"
#include "source/regions/function_price.h"
#include "source/regions/region_duty.h"

#define ENDING_NS (1 * NS_PER_SECOND)
/* Each has a descriptor and its probes. */
#define FILES_MAX 256

struct budget_file {
	int fd;
	char *path;
	struct stat stat;
	ARRAY_OF(uint32_t) mapped; /* its ids as a mapped file */
	uint32_t number;	   /* of its entry in the table of sites */
	struct region_sites begins, ends;
	struct region_probes *begin_probes, *end_probes; /* NULL: they are off */
	uint64_t off_ns;    /* since when the begins are off; 0: they are on */
	uint64_t cost_ns;   /* in this slice */
	uint64_t missed_ns; /* in this slice, up to off_ns */
	bool was_watched;   /* in this slice */
	struct region_duty duty;
	uint32_t said_shift;
};

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

static bool is_begin(const struct region_site *site)
{
	switch (site->role) {
	case REGION_ENTER:
	case REGION_BEGIN:
	case REGION_PYTHON: /* one place for both */
		return true;
	case REGION_SITE:
		return site->description.role == PKBPF_SITE_ENTER ||
		       site->description.role == PKBPF_SITE_BEGIN;
	default:
		return false;
	}
}

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

static void file_free(struct budget_file *file)
{
	if (!file)
		return;
	region_probes_free(file->begin_probes);
	region_probes_free(file->end_probes);
	region_sites_done(&file->begins);
	region_sites_done(&file->ends);
	array_free(&file->mapped);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file);
}

static int sort_sites(struct budget_file *file, const struct region_sites *sites)
{
	array_foreach(&sites->items, site) {
		struct region_sites *into = is_begin(site) ? &file->begins : &file->ends;
		struct region_site *item = array_add(&into->items);

		if (!item)
			return -ENOMEM;
		*item = *site;
		if (site->role != REGION_SITE)
			item->cookie = file->number;
	}
	return 0;
}

static int note_id(struct budget_file *file, uint32_t mapped_file)
{
	uint32_t *id;

	array_foreach(&file->mapped, known)
		if (*known == mapped_file)
			return 0;
	id = array_add(&file->mapped);
	if (!id)
		return -ENOMEM;
	*id = mapped_file;
	return 0;
}

static int file_fill(struct budget_file *file, const struct region_budget_file *from,
		     struct error *error)
{
	file->number = from->number;
	file->path = strdup(from->path);
	file->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	if (file->fd < 0 || fstat(file->fd, &file->stat))
		return error_set(error, errno, "%s", strerror(errno));
	if (!file->path || sort_sites(file, from->sites) || note_id(file, from->mapped_file))
		return error_set(error, ENOMEM, "out of memory");
	return 0;
}

int region_budget_take(struct region_budget *budget, const struct region_budget_file *new_file,
		       struct error *error)
{
	struct budget_file *file, **item = NULL;
	int err;

	if (budget->files.count == FILES_MAX)
		return error_set(error, ENOSPC, "%d files with regions are watched already",
				 FILES_MAX);
	file = calloc(1, sizeof(*file));
	if (!file)
		return error_set(error, ENOMEM, "out of memory");
	budget->tables.sites[new_file->number] = (struct pkbpf_span_site){.role = PKBPF_SITE_OFF};
	err = file_fill(file, new_file, error);
	err = err ? err : watch(budget, file, error);
	if (!err)
		item = array_add(&budget->files);
	if (item) {
		*item = file;
		return 0;
	}
	file_free(file);
	return err ? err : error_set(error, ENOMEM, "out of memory");
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

void region_budget_note(struct region_budget *budget, int fd, uint32_t mapped_file)
{
	struct stat stat;

	if (fstat(fd, &stat))
		return;
	array_foreach(&budget->files, file)
		if (is_same_file(&(*file)->stat, &stat))
			note_id(*file, mapped_file);
}

/* ---- costs ---- */

static uint64_t take_hits(struct region_budget *budget, uint64_t number)
{
	return __atomic_exchange_n((uint64_t *)&budget->tables.sites[number].hits, 0,
				   __ATOMIC_RELAXED);
}

/* Of pairs; the kernel emulates all instructions that are probed here. */
static uint64_t take_hits_of(struct region_budget *budget, const struct region_sites *sites)
{
	uint64_t hits = 0;

	array_foreach(&sites->items, site)
		if (site->role == REGION_SITE)
			hits += take_hits(budget, site->cookie);
	return hits;
}

static void add_cost(struct region_budget *budget, struct budget_file *file)
{
	uint64_t hits = take_hits(budget, file->number) + take_hits_of(budget, &file->begins) +
			take_hits_of(budget, &file->ends);

	file->cost_ns += hits * (budget->price.emulated_ns + budget->price.program_ns);
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
	const struct process *process = process_table_find(budget->options.processes, pid);
	const struct address_space *space =
		process ? process_table_mappings(budget->options.processes, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		array_foreach(&file->mapped, id)
			if (mapping_has_file(&list->items[i]) && list->items[i].file == *id)
				return true;
	return false;
}

/* Rows of one process mostly follow each other. */
static void note_missed(const struct region_budget *budget, const struct budget_file *file,
			const volatile struct pkbpf_span_row *rows, uint32_t row_count,
			uint64_t *ret_missed_ns)
{
	uint32_t last = 0;
	bool has = false;

	for (uint32_t i = 0; i < row_count; i++) {
		uint32_t pid = rows[i].pid;

		if (!pid)
			continue;
		if (pid != last)
			has = has_mapped(budget, file, pid);
		last = pid;
		if (has && file->missed_ns > ret_missed_ns[i])
			ret_missed_ns[i] = file->missed_ns;
	}
}

bool region_budget_cut(struct region_budget *budget, uint64_t now_ns,
		       const volatile struct pkbpf_span_row *rows, uint32_t row_count,
		       uint64_t *ret_missed_ns)
{
	bool any = false;

	memset(ret_missed_ns, 0, row_count * sizeof(*ret_missed_ns));
	array_foreach(&budget->files, item) {
		struct budget_file *file = *item;

		add_cost(budget, file);
		if (file->off_ns) {
			file->missed_ns +=
				now_ns -
				(file->off_ns > budget->slice_ns ? file->off_ns : budget->slice_ns);
		}
		if (!file->missed_ns)
			continue;
		note_missed(budget, file, rows, row_count, ret_missed_ns);
		any = true;
	}
	return any;
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

/* Ends that come off with the begins: they are at the same place. */
static bool lacks_ends(const struct budget_file *file)
{
	array_foreach(&file->begins.items, site)
		if (site->role == REGION_PYTHON)
			return true;
	return !file->end_probes;
}

static void watch_again(struct region_budget *budget, struct budget_file *file, uint64_t now_ns,
			const volatile struct pkbpf_span_row *rows, uint32_t row_count)
{
	struct error error;

	/* Without ends in between, nothing was missed of what is open. */
	if (lacks_ends(file) && !forget_open(budget, file, now_ns, rows, row_count))
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
		file_free(*file);
	array_free(&budget->files);
	free(budget);
}
