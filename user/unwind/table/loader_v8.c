// SPDX-License-Identifier: BSD-2-Clause
/* Finds V8 among the files that a process has mapped. */
#include "unwind/table/loader_v8.h"

#include "base/escape.h"
#include "v8/v8_image.h"

/* Once for each file. */
static void warn_unknown(struct unwind_loader *loader, uint32_t number, struct v8_image *image)
{
	char path[256];

	if (image->is_reported)
		return;
	image->is_reported = true;
	log_warning(loader->log,
		    "V8 %u.%u (%s): %s; for names of JavaScript functions run node "
		    "--perf-basic-prof",
		    image->major, image->minor,
		    escape_terminal(path, sizeof(path), table_cache_path(loader->tables, number)),
		    v8_image_trouble(image));
}

struct pkbpf_v8_process loader_v8_of(struct unwind_loader *loader,
				     const struct tracked_process *process)
{
	for (size_t i = 0; i < process->map->list.count; i++) {
		const struct mapping *code = &process->map->list.items[i];
		struct v8_image *image = table_cache_v8(loader->tables, code->file);

		if (image && image->layout)
			return image->layout->kernel;
		if (image)
			warn_unknown(loader, code->file, image);
	}
	return (struct pkbpf_v8_process){0};
}
