// SPDX-License-Identifier: BSD-2-Clause
#include "source/gpu_calls/gpu_reports.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/usdt_notes.h"
#include "elf/usdt_operand.h"
#include "elf/usdt_site.h"
#include "source/gpu_calls/gpu_functions.h"
#include "source/regions/region_sites.h"

#define PROVIDER "parcagpu"
#define NUMBERED "cuda_correlation"
#define EXECUTED "kernel_executed"

/* Of kernel_executed. */
enum { START, END, CORRELATION, DEVICE, STREAM, GRAPH, NODE, NAME };

struct search {
	const struct elf_file *file;
	const struct region_sites *safe;
	struct gpu_report_sites *sites;
	int err;
};

/* Is there an instruction that can have a probe? */
static bool is_safe(const struct search *search, const struct usdt_site *site)
{
	array_foreach(&search->safe->items, safe)
		if (safe->role == REGION_SITE && safe->offset == site->offset)
			return true;
	return false;
}

static uint32_t pair_of(const char *name)
{
	const struct gpu_function *function = gpu_function_named(name);

	return PKBPF_GPU_SITE(function - gpu_function_at(0), function->group, function->shape,
			      function->way, gpu_function_layer(function));
}

static struct pkbpf_gpu_report report_of(const struct usdt_note *note, uint32_t what)
{
	const char *arguments = note->arguments;

	if (what == PKBPF_GPU_NUMBERED)
		return (struct pkbpf_gpu_report){.what = what,
						 .correlation = usdt_operand_parse(arguments, 0)};
	return (struct pkbpf_gpu_report){
		.what = what,
		.graph_pair = pair_of(GPU_IN_GRAPH),
		.unseen_pair = pair_of(GPU_UNSEEN),
		.correlation = usdt_operand_parse(arguments, CORRELATION),
		.start = usdt_operand_parse(arguments, START),
		.end = usdt_operand_parse(arguments, END),
		.graph = usdt_operand_parse(arguments, GRAPH),
		.name = usdt_operand_parse(arguments, NAME),
	};
}

static bool take_note(void *context, const struct usdt_note *note)
{
	struct search *search = context;
	struct gpu_report_site *added;
	struct usdt_site site;
	uint32_t what;

	if (strcmp(note->provider, PROVIDER) != 0)
		return true;
	what = strcmp(note->name, NUMBERED) == 0   ? PKBPF_GPU_NUMBERED
	       : strcmp(note->name, EXECUTED) == 0 ? PKBPF_GPU_EXECUTED
						   : 0;
	if (!what || !usdt_site_at(search->file, note->address, note->semaphore, &site) ||
	    !is_safe(search, &site))
		return true;
	if (search->sites->items.count >= PKBPF_GPU_REPORTS)
		return false;
	added = array_add(&search->sites->items);
	if (!added) {
		search->err = -ENOMEM;
		return false;
	}
	*added =
		(struct gpu_report_site){site.offset, site.semaphore_offset, report_of(note, what)};
	return true;
}

int gpu_report_sites_find(const struct elf_file *file, const char *path,
			  struct gpu_report_sites *sites)
{
	struct usdt_pair pair = {
		.provider = PROVIDER, .begin = NUMBERED, .ends = {EXECUTED}, .region = PROVIDER};
	const struct region_pairs pairs = {.items = {.items = &pair, .count = 1}};
	struct region_sites safe = {.refused = 0};
	struct search search = {.file = file, .safe = &safe, .sites = sites};
	int err = region_sites_find(file, path, &pairs, &safe);

	if (!err && safe.items.count)
		err = usdt_notes_read(file, take_note, &search);
	region_sites_done(&safe);
	return err ? err : search.err;
}

void gpu_report_sites_done(struct gpu_report_sites *sites)
{
	array_free(&sites->items);
}

int gpu_report_sites_attach(const struct gpu_report_sites *sites, int fd, int map_fd,
			    const struct bpf_program *program, uint32_t *count,
			    struct uprobe_links *links)
{
	size_t most = sites->items.count, used = 0;
	_cleanup_free_ uint64_t *words = calloc(3 * most + 1, sizeof(*words));
	struct uprobe_places places = {.fd = fd,
				       .offsets = words,
				       .cookies = words + most,
				       .semaphores = words + 2 * most,
				       .count = most};

	if (!words)
		return -ENOMEM;
	if (*count + most > PKBPF_GPU_REPORTS)
		return -ENOSPC;
	array_foreach(&sites->items, site) {
		uint32_t number = *count;

		if (bpf_map_update_elem(map_fd, &number, &site->report, BPF_ANY))
			return -errno;
		words[used] = site->offset;
		words[most + used] = number;
		words[2 * most + used++] = site->semaphore_offset;
		++*count;
	}
	return most ? uprobe_links_add(links, program, &places) : 0;
}
