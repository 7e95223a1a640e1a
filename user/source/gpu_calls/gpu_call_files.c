// SPDX-License-Identifier: BSD-2-Clause
#include "source/gpu_calls/gpu_call_files.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "gpu/gpu_libraries.h"
#include "process/process_table.h"
#include "source/gpu_calls/gpu_functions.h"
#include "source/gpu_calls/gpu_reports.h"
#include "source/regions/past_targets.h"
#include "source/regions/region_command.h"

#include "pkbpf.skel.h"

static void say_missing(const struct gpu_call_files *files, const char *path,
			const struct gpu_function_sites *sites)
{
	const struct log *log = session_options(files->session)->log;

	if (sites->refused)
		log_warning(log,
			    "%u GPU calls of %s are not watched, since probes may break them: %s",
			    sites->refused, path, sites->refused_names);
	if (sites->unmeasured)
		log_warning(
			log,
			"of %u GPU calls of %s the ends cannot be seen: they are counted without "
			"time, errors and what they allocate: %s",
			sites->unmeasured, path, sites->unmeasured_names);
}

/* Exits first: nothing may be entered that cannot be left. */
static int put_probes(struct gpu_call_files *files, int fd, const struct gpu_function_sites *sites)
{
	int sites_fd = bpf_map__fd(session_skeleton(files->session)->maps.gpu_sites);
	size_t count = sites->sites.items.count;
	uint64_t *words = calloc(2 * count + 1, sizeof(*words));
	struct uprobe_places places = {.fd = fd, .offsets = words, .cookies = words + count};
	int err = words ? 0 : -ENOMEM;

	if (files->site_count + count > PKBPF_GPU_SITES)
		err = err ? err : -ENOSPC;
	for (int entries = 0; entries < 2 && !err; entries++) {
		places.count = 0;
		array_foreach(&sites->sites.items, site) {
			bool is_entry = site->description.role != PKBPF_SITE_RETURN;
			uint32_t number = files->site_count;

			if (is_entry != (entries == 1))
				continue;
			if (bpf_map_update_elem(sites_fd, &number, &site->description, BPF_ANY)) {
				err = -errno;
				break;
			}
			files->site_count++;
			words[places.count] = site->offset;
			words[count + places.count++] = number;
		}
		if (places.count && !err)
			err = uprobe_links_add(&files->links,
					       session_skeleton(files->session)->progs.gpu_call,
					       &places);
	}
	free(words);
	return err;
}

/* Of a library that reports times of kernels. Losing them costs nothing else. */
static void watch_reports(struct gpu_call_files *files, int fd, const char *path,
			  const struct gpu_report_sites *sites)
{
	struct pkbpf_bpf *skeleton = session_skeleton(files->session);
	const struct log *log = session_options(files->session)->log;
	int err;

	if (!files->is_attached || !sites->items.count)
		return;
	err = gpu_report_sites_attach(sites, fd, bpf_map__fd(skeleton->maps.gpu_reports),
				      skeleton->progs.gpu_reported, &files->report_count,
				      &files->links);
	if (err)
		log_warning(log, "cannot read the times of kernels that %s reports: %s", path,
			    strerror(-err));
	else
		log_info(log, "reading the times of kernels that %s reports", path);
}

/* true: it has calls to watch, and had no probes before. */
static bool watch_new_file(struct gpu_call_files *files, int fd, const char *path)
{
	const struct log *log = session_options(files->session)->log;
	struct gpu_function_sites sites = {.count = 0};
	struct gpu_report_sites reports = {0};
	struct elf_file file;
	bool is_new = false, has_calls;
	int err;

	if (elf_file_open(&file, fd) < 0)
		return false;
	err = gpu_function_sites_find(&file, gpu_library_is_runtime(path), &sites);
	err = err ? err : gpu_report_sites_find(&file, path, &reports);
	elf_file_done(&file);
	has_calls = sites.count || sites.refused;
	if (!err && (has_calls || reports.items.count) &&
	    region_files_note_probed(&files->probed, fd)) {
		is_new = true;
		say_missing(files, path, &sites);
		if (files->is_attached)
			err = put_probes(files, fd, &sites);
		if (!err)
			watch_reports(files, fd, path, &reports);
	}
	if (err)
		log_warning(log, "cannot watch the GPU calls of %s: %s", path, strerror(-err));
	else if (is_new && sites.count && files->is_attached)
		log_info(log, "watching %u GPU calls of %s", sites.count, path);
	gpu_function_sites_done(&sites);
	gpu_report_sites_done(&reports);
	return is_new && has_calls;
}

static void watch_path(struct gpu_call_files *files, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	watch_new_file(files, fd, path);
	close(fd);
}

/* A run-time opens the driver when it is used first: probes that wait for that come late. */
static void watch_neighbours(struct gpu_call_files *files, const char *folder, size_t length)
{
	char path[PATH_MAX];

	const char *name;

	for (size_t i = 0; (name = gpu_library_name_at(i)); i++)
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, name) <
		    (int)sizeof(path))
			watch_path(files, path);
}

static void watch_file(void *context, int fd, const char *path)
{
	const char *name = strrchr(path, '/');

	if (watch_new_file(context, fd, path) && name)
		watch_neighbours(context, path, (size_t)(name - path));
}

static void watch_usual_places(struct gpu_call_files *files)
{
	/* Of the command, which has the same environment. */
	const char *folder, *injected = getenv("CUDA_INJECTION64_PATH");

	if (injected && session_options(files->session)->command)
		watch_path(files, injected);
	for (size_t i = 0; (folder = gpu_library_folder_at(i)); i++)
		watch_neighbours(files, folder, strlen(folder));
}

static void look_at_file(struct gpu_call_files *files, uint32_t id)
{
	const struct session_options *options = session_options(files->session);
	struct mapped_file_table *table = process_table_files(options->processes);
	struct mapped_file *file = mapped_file_table_get(table, id);
	int fd;

	if (!file || file->type != MAPPED_FILE_REGULAR ||
	    !region_files_is_new(&files->probed, file))
		return;
	fd = mapped_file_open(table, file);
	if (fd < 0 || !watch_new_file(files, fd, file->path))
		return;
	if (files->has_begun)
		log_warning(options->log,
			    "%s was mapped during the recording: GPU calls before its probes were "
			    "missed",
			    file->path);
	else
		log_info(options->log, "GPU calls of %s before the recording are not known",
			 file->path);
}

static void look_at_process(struct gpu_call_files *files, const struct process *process)
{
	const struct process_table *table = session_options(files->session)->processes;
	const struct address_space *space = process ? process_table_mappings(table, process) : NULL;
	const struct mapping_list *list = space ? address_space_mappings(space) : NULL;

	for (size_t i = 0; list && i < list->count; i++)
		if (mapping_has_file(&list->items[i]))
			look_at_file(files, list->items[i].file);
}

/* Targets that have begun and ended since the last look. */
static void look_at_ended(struct gpu_call_files *files, struct u32_list *targets)
{
	const struct session_options *options = session_options(files->session);
	uint64_t since_ns = files->last_ended_ns, now_ns = process_table_now_ns(options->processes);
	size_t count = process_table_count(options->processes);

	if (now_ns - since_ns < PROCESS_GRACE_NS / 4 ||
	    past_targets_add(options->processes, options->follow, since_ns, targets))
		return;
	files->last_ended_ns = now_ns;
	for (uint32_t id = 0; id < count; id++) {
		const struct process *process = process_table_by_id(options->processes, id);

		if (process && process->end_ns && process->end_ns >= since_ns &&
		    past_targets_has(targets, process->pid))
			look_at_process(files, process);
	}
}

/* Looks at files that targets have mapped since the last time. */
void gpu_call_files_look(struct gpu_call_files *files)
{
	const struct session_options *options = session_options(files->session);
	size_t count = mapped_file_table_count(process_table_files(options->processes));
	struct u32_list targets = {0};

	if (options->target_mode != PKBPF_TARGET_PROCESS) {
		for (uint32_t id = 0; id < count; id++)
			look_at_file(files, id);
		return;
	}
	if (session_targets_now(files->session, &targets) == 0) {
		for (size_t i = 0; i < options->pid_count; i++) {
			uint32_t *pid = array_add(&targets);

			if (pid)
				*pid = options->pids[i];
		}
		for (size_t i = 0; i < targets.count; i++)
			look_at_process(files,
					process_table_find(options->processes, targets.items[i]));
		look_at_ended(files, &targets);
	}
	free(targets.items);
}

void gpu_call_files_begin(struct gpu_call_files *files)
{
	const char *command = session_options(files->session)->command;

	files->is_attached = true;
	if (command)
		region_command_files(command, watch_file, files);
	watch_usual_places(files);
	gpu_call_files_look(files);
}

void gpu_call_files_end(struct gpu_call_files *files)
{
	files->is_attached = false;
	uprobe_links_remove(&files->links);
}

void gpu_call_files_done(struct gpu_call_files *files)
{
	uprobe_links_remove(&files->links);
	region_files_done(&files->probed);
}
