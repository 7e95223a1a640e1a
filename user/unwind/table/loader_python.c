// SPDX-License-Identifier: BSD-2-Clause
/* Finds the Python interpreter of a process, and writes its layout to the kernel side's map. */
#include "unwind/table/loader_python.h"

#include <bpf/bpf.h>
#include <string.h>

#include "base/escape.h"
#include "base/process_memory.h"
#include "python/python_image.h"
#include "python/python_slots.h"
#include "unwind/table/loader_ruby.h"

uint32_t loader_layout_number(struct unwind_loader *loader, const void *layout)
{
	uint32_t number;

	for (number = 0; number < loader->python_layout_count; number++)
		if (!memcmp(&loader->python_layouts[number], layout,
			    sizeof(loader->python_layouts[number])))
			return number;
	if (number == LOADER_PYTHON_LAYOUTS ||
	    bpf_map_update_elem(loader->memory.fds.python_layouts, &number, layout, BPF_ANY))
		return LOADER_PYTHON_LAYOUTS;
	memcpy(&loader->python_layouts[number], layout, sizeof(loader->python_layouts[number]));
	return loader->python_layout_count++;
}

/* Once for each file. */
static void tell_unknown(struct unwind_loader *loader, uint32_t number, struct python_image *image)
{
	char path[256];

	if (image->is_told)
		return;
	image->is_told = true;
	log_warning(loader->log, "%s (%s): this version is not known; its functions are not shown",
		    image->unknown,
		    escape_terminal(path, sizeof(path), table_cache_path(loader->tables, number)));
}

/* The executable of some builds is a small one that loads a library; others have the runtime in
 * both, and use one of them. NULL: none. */
static const struct python_image *
find_image(struct unwind_loader *loader, const struct tracked_process *process, uint64_t *ret_bias)
{
	const struct python_image *first = NULL;

	for (size_t i = 0; i < process->map->list.count; i++) {
		const struct mapping *code = &process->map->list.items[i];
		uint64_t bias, runtime;
		uint32_t pid = process->pid;
		struct python_image *image =
			table_cache_python(loader->tables, code->file, code->start, code->end,
					   code->file_offset, &bias);

		if (image && image->unknown[0])
			tell_unknown(loader, code->file, image);
		if (!image || image->unknown[0])
			continue;
		runtime = image->runtime + bias;
		if (!first ||
		    python_runtime_is_used(process_memory_read, &pid, runtime, &image->layout)) {
			*ret_bias = bias;
			if (first)
				return image;
			first = image;
		}
	}
	return first;
}

struct pkbpf_python_process loader_python_of(struct unwind_loader *loader,
					     struct tracked_process *process)
{
	struct pkbpf_python_process *python = &process->python;
	uint64_t bias = 0, runtime;
	const struct python_image *image =
		loader->memory.fds.python_layouts >= 0 ? find_image(loader, process, &bias) : NULL;
	uint32_t number = image ? loader_layout_number(loader, &image->layout)
				: LOADER_PYTHON_LAYOUTS,
		 pid = process->pid;

	if (!image && loader->memory.fds.python_layouts >= 0)
		return loader_ruby_of(loader, process);
	if (number == LOADER_PYTHON_LAYOUTS) {
		*python = (struct pkbpf_python_process){0};
		process->python_looked = false;
		return *python;
	}
	runtime = image->runtime + bias;
	if (python->runtime != runtime || python->layout != number + 1) {
		*python = (struct pkbpf_python_process){.runtime = runtime, .layout = number + 1};
		for (size_t i = 0; i < PKBPF_PYTHON_LOOP_PARTS; i++) {
			python->loop[i].start = image->loop[i].start + bias;
			python->loop[i].size = image->loop[i].size;
		}
		process->python_looked = false;
	}
	if (!process->python_looked && !process->exit_ns) {
		process->python_looked = true;
		python_slots_find(process_memory_read, &pid, runtime, &image->layout,
				  python->slots);
	}
	return *python;
}
