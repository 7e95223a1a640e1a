// SPDX-License-Identifier: BSD-2-Clause
/* Looks for files of targets that mark regions or have functions to be counted. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pkbpf/span.h>

#include "base/array.h"
#include "base/parse_value.h"
#include "elf/elf_file.h"
#include "process/process_table.h"
#include "source/alloc/sampler_library.h"
#include "source/regions/function_inlined.h"
#include "source/regions/past_targets.h"
#include "source/regions/region_command.h"
#include "source/regions/region_overlay.h"
#include "source/regions/regions_private.h"

static void say_unwatched(struct source *source, const char *path, const char *why)
{
	log_warning(session_options(source->session)->log, "cannot watch the regions of %s: %s",
		    path, why);
}

/* Enters the descriptions of sites into the table of the BPF programs. */
static int describe_sites(struct source *source, struct region_sites *sites)
{
	struct pkbpf_span_site *table = source->site_table.items;

	array_foreach(&sites->items, site) {
		if (site->role != REGION_SITE)
			continue;
		if (source->site_count == REGION_SITES - 1) /* the last one is spare */
			return -ENOSPC;
		site->cookie = source->site_count;
		table[source->site_count++] = site->description;
	}
	return 0;
}

static int put_probes(struct source *source, int fd, const char *path, uint32_t id,
		      struct region_sites *sites, struct error *error)
{
	const struct region_budget_file file = {fd, path, id, source->site_count, sites};

	if (source->pair_budget && pair_budget_take(source->pair_budget, fd, sites, error) < 0)
		return -EINVAL;
	if (!source->budget)
		return region_probes_add(source->probes, fd, sites, error);
	if (source->site_count == REGION_SITES - 1)
		return error_set(error, ENOSPC, "too many probes");
	source->site_count++;
	return region_budget_take(source->budget, &file, error);
}

/* Markers of pkbpf.h and pkbpf.py, and pairs of probes. */
static void watch_marks(struct source *source, int fd, const char *path, uint32_t id,
			struct region_sites *sites)
{
	const struct log *log = session_options(source->session)->log;
	struct error error;

	if (sites->refused)
		log_warning(log,
			    "%u USDT probes of %s are not watched: they are no nops of one byte, "
			    "and probes on others may break the program",
			    sites->refused, path);
	if (sites->refused_functions)
		log_warning(log,
			    "%u functions in %s that mark regions are not watched: probes on their "
			    "first instructions may break the program",
			    sites->refused_functions, path);
	if (sites->shadowed)
		log_warning(log,
			    "regions of processes that load %s from now on are not watched: other "
			    "data shares the page of its USDT semaphores, which the kernel raises "
			    "there; attach with --pid, or link with "
			    "-Wl,-z,separate-loadable-segments",
			    path);
	if (!sites->items.count)
		return;
	if (describe_sites(source, sites) < 0)
		say_unwatched(source, path, "too many probes");
	else if (put_probes(source, fd, path, id, sites, &error) < 0)
		say_unwatched(source, path, error.text);
	else
		log_info(log, "watching the regions of %s", path);
}

static void watch_functions(struct source *source, const struct elf_file *file, int fd,
			    const char *path)
{
	int err = function_set_add(source->functions, file, fd, path);

	if (err)
		log_warning(session_options(source->session)->log,
			    "cannot watch the functions of %s: %s", path, strerror(-err));
	function_inlined_tell(source->functions, session_options(source->session), file, path);
}

/* true: it has regions or functions to watch, and had no probes before. */
static bool watch_new_file(struct source *source, int fd, const char *path, uint32_t id)
{
	bool wants_functions = source->functions && function_set_wants(source->functions, path);
	size_t functions = function_set_count(source->functions);
	struct region_sites sites = {0};
	struct elf_file file;
	bool has_any = false;

	if ((!source->wants_marks && !wants_functions) || elf_file_open(&file, fd) < 0)
		return false;
	if (source->wants_marks && region_sites_find(&file, path, &source->pairs, &sites) < 0)
		say_unwatched(source, path, "the file cannot be read");
	if (!source->is_attached) {
		/* Probes would come too late. */
		has_any = sites.items.count && region_files_note_probed(&source->files, fd);
	} else if ((sites.items.count || sites.refused || sites.refused_functions ||
		    wants_functions) &&
		   region_files_note_probed(&source->files, fd)) {
		watch_marks(source, fd, path, id, &sites);
		if (wants_functions)
			watch_functions(source, &file, fd, path);
		has_any = sites.items.count || function_set_count(source->functions) > functions;
	}
	/* By this name, or in this container, too. */
	if (source->budget && sites.items.count)
		region_budget_note(source->budget, fd, id);
	region_sites_done(&sites);
	elf_file_done(&file);
	return has_any;
}

static void watch_file(void *context, int fd, const char *path)
{
	watch_new_file(context, fd, path, UINT32_MAX);
}

/* Of a file that has got its probes while a process has it mapped. */
static void say_missed(const struct source *source, int fd, const struct mapped_file *file)
{
	const struct log *log = session_options(source->session)->log;

	if (region_overlay_has_changed(fd, file->witness_pid))
		log_warning(log,
			    "%s, in an overlay, has changed since process %u started: if that "
			    "copied it up, regions and calls of processes that mapped it before "
			    "are not watched; start them again",
			    file->path, file->witness_pid);
	if (source->last_drain_ns)
		log_warning(log, "%s was mapped during the recording: %s were missed", file->path,
			    source->is_attached ? "regions and calls before its probes"
						: "its regions");
}

static void look_at_file(struct source *source, uint32_t id)
{
	struct mapped_file_table *files =
		process_table_files(session_options(source->session)->processes);
	struct mapped_file *file = mapped_file_table_get(files, id);
	int fd;

	if (!file || file->type != MAPPED_FILE_REGULAR ||
	    !region_files_is_new(&source->files, file))
		return;
	fd = mapped_file_open(files, file);
	if (fd >= 0 && watch_new_file(source, fd, file->path, id) && !source->budget)
		say_missed(source, fd, file);
}

static void look_at_process(struct source *source, const struct process *process)
{
	const struct process_table *table = session_options(source->session)->processes;
	const struct address_space *space = process ? process_table_mappings(table, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (mapping_has_file(&list->items[i]))
			look_at_file(source, list->items[i].file);
}

/* Targets that have begun and ended since the last look. Their mappings are known for the grace
 * time of the table. */
static void look_at_ended(struct source *source, struct u32_list *targets)
{
	const struct session_options *options = session_options(source->session);
	uint64_t since_ns = source->last_ended_ns,
		 now_ns = process_table_now_ns(options->processes);
	size_t count = process_table_count(options->processes);

	if (now_ns - since_ns < PROCESS_GRACE_NS / 4 ||
	    past_targets_add(options->processes, options->follow, since_ns, targets))
		return;
	source->last_ended_ns = now_ns;
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(options->processes, id);

		if (process && process->end_ns && process->end_ns >= since_ns &&
		    past_targets_has(targets, process->pid))
			look_at_process(source, process);
	}
}

/* The targets by now, and the processes that were given. */
static int list_targets(const struct source *source, struct u32_list *targets)
{
	const struct session_options *options = session_options(source->session);
	int err = session_targets_now(source->session, targets);

	for (size_t i = 0; i < options->pid_count && !err; i++) {
		uint32_t *pid = array_add(targets);

		if (pid)
			*pid = options->pids[i];
		else
			err = -ENOMEM;
	}
	return err;
}

/* Looks at files that targets have mapped since the last time. */
void region_watch_files(struct source *source)
{
	const struct session_options *options = session_options(source->session);
	size_t count = mapped_file_table_count(process_table_files(options->processes));
	struct u32_list targets = {0};

	if (options->target_mode == PKBPF_TARGET_PROCESS) {
		if (list_targets(source, &targets) == 0) {
			for (size_t i = 0; i < targets.count; i++)
				look_at_process(source, process_table_find(options->processes,
									   targets.items[i]));
			look_at_ended(source, &targets);
		}
		free(targets.items);
		return;
	}
	for (uint32_t id = 0; id < count; id++)
		look_at_file(source, id);
}

void region_watch_missed(struct source *source)
{
	const struct session_options *options = session_options(source->session);
	struct mapped_file_table *files = process_table_files(options->processes);
	size_t count = mapped_file_table_count(files);
	bool is_host = options->target_mode != PKBPF_TARGET_PROCESS;
	struct u32_list targets = {0};

	if (!is_host && (list_targets(source, &targets) ||
			 past_targets_add(options->processes, options->follow, 0, &targets)))
		count = 0;
	for (uint32_t id = 0; id < count; id++) {
		const struct mapped_file *file = mapped_file_table_get(files, id);

		if (file && (is_host || past_targets_has(&targets, file->witness_pid)))
			look_at_file(source, id);
	}
	free(targets.items);
}

/* The library that programs load for NVTX and ITT, before they do. */
static void watch_injected(struct source *source)
{
	char path[PATH_MAX];
	struct error error;
	int fd;

	if (!source->wants_marks ||
	    preload_library_find(REGIONS_LIBRARY_NAME, path, sizeof(path), &error))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	watch_file(source, fd, path);
	close(fd);
}

void region_watch_command(struct source *source)
{
	const char *command = session_options(source->session)->command;

	if (!command)
		return;
	region_command_files(command, watch_file, source);
	watch_injected(source);
}
