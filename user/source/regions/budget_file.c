// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/budget_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

void budget_file_free(struct budget_file *file)
{
	if (!file)
		return;
	region_probes_free(file->begin_probes);
	region_probes_free(file->end_probes);
	region_sites_done(&file->begins);
	region_sites_done(&file->ends);
	region_gap_names_done(&file->names);
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

int budget_file_note_id(struct budget_file *file, uint32_t mapped_file)
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
	if (!file->path || sort_sites(file, from->sites) ||
	    budget_file_note_id(file, from->mapped_file))
		return error_set(error, ENOMEM, "out of memory");
	return 0;
}

struct budget_file *budget_file_new(const struct region_budget_file *from, struct error *error)
{
	struct budget_file *file = calloc(1, sizeof(*file));

	if (!file) {
		error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	if (file_fill(file, from, error) == 0)
		return file;
	budget_file_free(file);
	return NULL;
}

bool budget_file_is(const struct budget_file *file, const struct stat *b)
{
	const struct stat *a = &file->stat;

	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

bool budget_file_is_mapped_by(const struct budget_file *file, struct process_table *processes,
			      const struct process *process)
{
	const struct address_space *space =
		process ? process_table_mappings(processes, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		array_foreach(&file->mapped, id)
			if (mapping_has_file(&list->items[i]) && list->items[i].file == *id)
				return true;
	return false;
}

bool budget_file_is_mapped(const struct budget_file *file, struct process_table *processes)
{
	size_t count = process_table_count(processes);

	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(processes, id);

		if (process && !process->end_ns &&
		    budget_file_is_mapped_by(file, processes, process))
			return true;
	}
	return false;
}

/* Rows of one process mostly follow each other. */
void budget_file_note_names(struct budget_file *file, struct process_table *processes,
			    const volatile struct pkbpf_span_row *rows, uint32_t row_count)
{
	uint32_t last = 0;
	bool has = false;

	for (uint32_t i = 0; i < row_count; i++) {
		uint32_t pid = rows[i].pid;

		if (!pid)
			continue;
		if (pid != last)
			has = budget_file_is_mapped_by(file, processes,
						       process_table_find(processes, pid));
		last = pid;
		if (has && file->names.items.count < REGION_GAP_NAMES_OF_FILE)
			region_gap_names_note(&file->names, (const char *)rows[i].name, 0);
	}
}

bool budget_file_lacks_ends(const struct budget_file *file)
{
	array_foreach(&file->begins.items, site)
		if (site->role == REGION_PYTHON)
			return true;
	return !file->end_probes;
}
