// SPDX-License-Identifier: BSD-2-Clause
/* Reads the description and the code heaps of a JVM once. */
#include "cli/doctor_java.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/process_memory.h"
#include "elf/elf_program.h"
#include "hotspot/hotspot_process.h"
#include "rows/human.h"
#include "symbol/target_file.h"

#define MAX_PATH   4096
#define MOST_LOOKS 64

struct library {
	uint64_t start, end, offset;
	char path[MAX_PATH];
};

/* The first executable mapping of libjvm.so. */
static bool find_library(const char *maps, struct library *ret_library)
{
	for (const char *line = maps; line && *line; line = strchr(line, '\n')) {
		char protection[8];

		line += *line == '\n';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]",
			   &ret_library->start, &ret_library->end, protection, &ret_library->offset,
			   ret_library->path) == 5 &&
		    protection[2] == 'x' && strstr(ret_library->path, "/libjvm."))
			return true;
	}
	return false;
}

static int read_layout(uint32_t pid, struct file_servers *servers, const struct library *library,
		       const struct hotspot_memory *memory, struct hotspot_layout *layout,
		       uint64_t *ret_bias)
{
	struct hotspot_image image;
	struct elf_file *file;
	struct stat stat;
	int fd = target_file_open(servers, "", pid, library->path, true, &stat), err;

	if (fd < 0)
		return fd;
	err = elf_program_open(fd, &file);
	close(fd);
	if (err)
		return err;
	err = hotspot_image_find(file, &image);
	if (!err && !elf_segments_bias(&file->segments, library->start, library->end,
				       library->offset, ret_bias))
		err = -ENOENT;
	elf_program_free(file);
	return err ? err : hotspot_layout_read(memory, &image, *ret_bias, layout);
}

const char *doctor_java_remedy(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return "run as root, or with CAP_SYS_PTRACE";
	case -ESRCH:
		return "the process has exited";
	default:
		return "try again when the JVM has started";
	}
}

static void print_code(struct hotspot_process *process, const struct hotspot_layout *layout)
{
	const struct hotspot_process_ops nothing = {0};
	char version[64], methods[HUMAN_SIZE], others[HUMAN_SIZE];
	size_t count = 0, blobs;
	int result = 1;

	/* A look reads so much; what it left, the next one reads. */
	for (int i = 0; i < MOST_LOOKS && result > 0; i++)
		result =
			hotspot_process_look(process, &nothing, hotspot_process_next_look(process));

	if (result < 0) {
		printf("Java: its code heaps cannot be read (%s); %s\n", strerror(-result),
		       doctor_java_remedy(result));
		return;
	}
	blobs = hotspot_process_blob_count(process);
	for (size_t i = 0; i < blobs; i++)
		count += hotspot_process_blob(process, i)->method != 0;
	/* More is left to read: these are some of them. */
	printf("Java %s: %s%s compiled methods and %s other pieces of code;\n"
	       "      compiled, inlined and interpreted methods are shown in user stacks\n",
	       escape_terminal(version, sizeof(version), layout->version),
	       result > 0 ? "at least " : "", human_count(methods, count),
	       human_count(others, blobs - count));
	if (hotspot_process_dropped(process))
		printf("      %" PRIu64 " more are left out: the maximum is %d pieces of code\n",
		       hotspot_process_dropped(process), HOTSPOT_MAX_BLOBS);
}

bool doctor_java(uint32_t pid, struct file_servers *servers, const char *maps)
{
	const struct hotspot_memory memory = {process_memory_read, &pid};
	struct hotspot_process *process;
	struct hotspot_layout layout = {0};
	struct library library;
	char missing[96];
	uint64_t bias = 0;
	int err;

	if (!find_library(maps, &library))
		return false;
	printf("\n");
	err = read_layout(pid, servers, &library, &memory, &layout, &bias);
	if (err == -ENOTSUP) {
		printf("Java: this version is not known (%s not found); its code has no names "
		       "without a perf map\n",
		       escape_terminal(missing, sizeof(missing), layout.missing));
		return false;
	}
	process = err ? NULL : hotspot_process_new(&layout, bias, &memory);
	if (!process) {
		printf("Java: the JVM's description of its code cannot be read (%s); %s\n",
		       strerror(err ? -err : ENOMEM), doctor_java_remedy(err));
		return false;
	}
	print_code(process, &layout);
	hotspot_process_free(process);
	return true;
}
