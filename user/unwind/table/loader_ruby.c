// SPDX-License-Identifier: BSD-2-Clause
/* Finds the Ruby interpreter of a process, and writes its layout to the kernel side's map. */
#include "unwind/table/loader_ruby.h"

#include <errno.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/process_memory.h"
#include "ruby/ruby_process.h"
#include "unwind/table/loader_python.h"

/* A look while the memory changes may fail; the layout is wrong if several do. */
#define MISMATCHES_TOLD 3
/* A search reads much: one that never finds anything becomes rare. */
#define FIRST_PAUSE_NS	 20000000ULL
#define LONGEST_PAUSE_NS 2000000000ULL

static void tell(struct unwind_loader *loader, uint32_t number, struct ruby_image *image,
		 const char *what, const char *why)
{
	char path[256];

	if (image->is_told)
		return;
	image->is_told = true;
	log_warning(loader->log, "%s (%s): %s; its methods are not shown", what,
		    escape_terminal(path, sizeof(path), table_cache_path(loader->tables, number)),
		    why);
}

static struct ruby_image *find_image(struct unwind_loader *loader,
				     const struct tracked_process *process, uint32_t *ret_file,
				     uint64_t *ret_bias)
{
	for (size_t i = 0; i < process->map->list.count; i++) {
		const struct mapping *code = &process->map->list.items[i];
		struct ruby_image *image = table_cache_ruby(loader->tables, code->file, code->start,
							    code->end, code->file_offset, ret_bias);

		*ret_file = code->file;
		if (image && image->unknown[0])
			tell(loader, code->file, image, image->unknown, "its layout is not known");
		else if (image)
			return image;
	}
	return NULL;
}

/* Without a slot the kernel side asks again. */
static void look(struct unwind_loader *loader, struct tracked_process *process, uint32_t file,
		 struct ruby_image *image, uint64_t bias)
{
	uint32_t pid = process->pid;
	uint64_t now_ns = clock_now_ns(), pause_ns = 2 * process->ruby_pause_ns;
	int err;

	if (now_ns < process->ruby_look_ns)
		return;
	if (pause_ns < FIRST_PAUSE_NS)
		pause_ns = FIRST_PAUSE_NS;
	process->ruby_pause_ns = pause_ns < LONGEST_PAUSE_NS ? pause_ns : LONGEST_PAUSE_NS;
	process->ruby_look_ns = now_ns + process->ruby_pause_ns;
	err = ruby_process_find(process_memory_read, &pid, image, bias, &process->python);

	if (err)
		process->python.slots[0] = 0;
	image->mismatches = err == -EPROTO ? image->mismatches + 1 : 0;
	if (image->mismatches >= MISMATCHES_TOLD)
		tell(loader, file, image, "Ruby", "its memory is not as this version's should be");
}

struct pkbpf_python_process loader_ruby_of(struct unwind_loader *loader,
					   struct tracked_process *process)
{
	struct pkbpf_python_process *ruby = &process->python;
	uint64_t bias = 0;
	uint32_t file = 0, number = LOADER_PYTHON_LAYOUTS;
	struct ruby_image *image = find_image(loader, process, &file, &bias);

	if (image)
		number = loader_layout_number(loader, &image->layout);
	if (number == LOADER_PYTHON_LAYOUTS) {
		*ruby = (struct pkbpf_python_process){0};
		process->python_looked = false;
		return *ruby;
	}
	if (ruby->runtime != image->vm + bias || ruby->layout != number + 1) {
		*ruby = (struct pkbpf_python_process){
			.runtime = image->vm + bias,
			.layout = number + 1,
		};
		process->python_looked = false;
		process->ruby_look_ns = process->ruby_pause_ns = 0;
	}
	if (!process->python_looked && !process->exit_ns) {
		process->python_looked = true;
		if (!ruby->slots[0])
			look(loader, process, file, image, bias);
	}
	return *ruby;
}
