// SPDX-License-Identifier: BSD-2-Clause
/* Recognizes Python, Ruby, Java and Node, and tells what names their functions need. */
#include "cli/doctor_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file_io.h"
#include "base/process_memory.h"
#include "cli/doctor_java.h"
#include "elf/elf_file.h"
#include "process/file/file_servers.h"
#include "process/procfs_status.h"
#include "python/python_image.h"
#include "ruby/ruby_image.h"
#include "ruby/ruby_process.h"
#include "symbol/target_file.h"
#include "v8/v8_image.h"

#define MAX_BYTES  (16U << 20)
#define MAX_PATH   4096
#define MAX_IMAGES 64 /* files of a process that are searched for an interpreter */

struct target {
	uint32_t pid;
	struct file_servers *servers; /* which may not answer */
	char *maps;
	/* command line and environment, their words separated by blanks */
	char *words;
	bool is_node, has_v8; /* V8 that is known */
	bool has_python;
	char ruby[320]; /* its Ruby and file; empty: none */
	const char *ruby_found;
};

/* Of maps. */
struct code_line {
	uint64_t start, end, offset;
};

static char *read_file(uint32_t pid, const char *name, size_t *ret_size)
{
	char path[64], *text = NULL;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return file_read_all(AT_FDCWD, path, MAX_BYTES, &text, ret_size) ? NULL : text;
}

static char *read_words(uint32_t pid)
{
	_cleanup_free_ char *command = NULL, *environment = NULL;
	size_t command_size = 0, environment_size = 0;
	char *words;

	command = read_file(pid, "cmdline", &command_size);
	environment = read_file(pid, "environ", &environment_size);
	words = calloc(1, command_size + environment_size + 2);
	if (!words)
		return NULL;
	if (command)
		memcpy(words, command, command_size);
	if (environment)
		memcpy(words + command_size + 1, environment, environment_size);
	for (size_t i = 0; i < command_size + environment_size + 1; i++)
		if (!words[i])
			words[i] = ' ';
	return words;
}

static bool has_word(const struct target *target, const char *word)
{
	return target->words && strstr(target->words, word);
}

/* Whether the process has written what names its generated code. */
static bool has_perf_map(const struct target *target)
{
	struct procfs_status status;
	struct stat stat;
	char path[64];
	int fd;

	if (!procfs_status_read("/proc", target->pid, &status))
		return false;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", status.inner_pid);
	fd = target_file_open(target->servers, "", target->pid, path, false, &stat);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- Python ---- */

static void print_python(const char *path, int result, const struct python_image *image)
{
	char shown[256];

	escape_terminal(shown, sizeof(shown), path);
	if (result)
		printf("\n%s (%s): this version is not known; its functions are not shown\n",
		       image->unknown, shown);
	else
		printf("\nPython 3.%u%s (%s): its functions are shown in user stacks\n",
		       image->version >> 16 & 0xff,
		       image->layout.free_threaded ? ", free-threaded" : "", shown);
}

/* ---- Ruby ---- */

/* What its memory says about the layout. */
static const char *check_ruby(struct target *target, const struct ruby_image *image, uint64_t bias)
{
	struct pkbpf_python_process process = {0};
	int err = ruby_process_find(process_memory_read, &target->pid, image, bias, &process);

	if (err == -EPROTO)
		return "its memory is not as this version's should be; its methods are not shown";
	if (err == -ENOENT)
		return "its methods are not shown: the program loaded it while it ran";
	return err ? "its methods are shown in user stacks once the program runs"
		   : "its methods are shown in user stacks";
}

static void look_at_ruby(struct target *target, const char *path, const struct elf_file *file,
			 const struct code_line *line)
{
	struct ruby_image image;
	char shown[256];
	uint64_t bias;
	int err = ruby_image_find(file, path, &image);

	escape_terminal(shown, sizeof(shown), path);
	if (err == -ENOTSUP)
		printf("\n%s (%s): its layout is not known; its methods are not shown\n",
		       image.unknown, shown);
	if (err || !elf_segments_bias(&file->segments, line->start, line->end, line->offset, &bias))
		return;
	snprintf(target->ruby, sizeof(target->ruby), "Ruby %s (%s)", image.version, shown);
	target->ruby_found = check_ruby(target, &image, bias);
}

static void print_v8(struct target *target, const char *path, const struct v8_image *image)
{
	char shown[256];

	escape_terminal(shown, sizeof(shown), path);
	printf("\nV8 %u.%u (%s): %s\n", image->major, image->minor, shown,
	       image->layout ? "JavaScript functions are symbolized, including inlined ones"
			     : v8_image_trouble(image));
	target->has_v8 |= image->layout != NULL;
}

static void look_at_image(struct target *target, const char *path, const struct code_line *line)
{
	struct python_image python;
	struct v8_image v8;
	struct elf_file file;
	struct stat stat;
	int fd, result;

	fd = target_file_open(target->servers, "", target->pid, path, true, &stat);
	if (fd < 0)
		return;
	if (!elf_file_open(&file, fd)) {
		result = python_image_find(&file, path, &python);
		target->has_python |= !result;
		if (!result || result == -ENOTSUP)
			print_python(path, result, &python);
		look_at_ruby(target, path, &file, line);
		if (!v8_image_find(&file, &v8))
			print_v8(target, path, &v8);
		elf_file_done(&file);
	}
	close(fd);
}

/* One line of maps: its path, if it is the first code of this file in a row; NULL: not. */
static const char *code_path(char *line, const char *last)
{
	char *path = strchr(line, '/'), *space = strchr(line, ' ');

	if (!path || !space || space[3] != 'x' || !strcmp(path, last))
		return NULL;
	return path;
}

static bool read_code_line(const char *line, struct code_line *ret_code)
{
	return sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64, &ret_code->start,
		      &ret_code->end, &ret_code->offset) == 3;
}

static void explain_images(struct target *target)
{
	char last[MAX_PATH] = "", *line, *rest = target->maps;
	struct code_line code;
	size_t images = 0;

	while ((line = strsep(&rest, "\n")) && images < MAX_IMAGES) {
		const char *path = code_path(line, last);

		if (!path)
			continue;
		images++;
		snprintf(last, sizeof(last), "%s", path);
		if (read_code_line(line, &code))
			look_at_image(target, path, &code);
	}
	if (target->ruby[0])
		printf("\n%s: %s\n", target->ruby,
		       target->has_python ? "its methods are not shown: of a process with both, "
					    "Python's functions are"
					  : target->ruby_found);
}

/* ---- generated code ---- */

static void explain_java(const struct target *target)
{
	if (!strstr(target->maps, "/libjvm.so"))
		return;
	if (doctor_java(target->pid, target->servers, target->maps))
		return;
	printf("Java: %s\n",
	       has_perf_map(target)
		       ? "it has written a perf map; compiled methods have names as of then"
		       : "compiled methods have no names: add --jvm-map when profiling (Java 17 "
			 "and newer), or start it with -XX:+DumpPerfMapAtExit");
	puts(has_word(target, "-XX:+PreserveFramePointer")
		     ? "      -XX:+PreserveFramePointer is set"
		     : "      if stacks end at compiled code, start it with "
		       "-XX:+PreserveFramePointer");
	puts("      interpreted methods are shown as \"Interpreter\"; inlined ones are part of "
	     "their caller");
}

static bool is_node(const struct target *target)
{
	char path[64], executable[MAX_PATH];
	const char *name;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%u/exe", target->pid);
	size = readlink(path, executable, sizeof(executable) - 1);
	if (size <= 0)
		return false;
	executable[size] = '\0';
	name = strrchr(executable, '/');
	return (name && !strncmp(name, "/node", 5)) || strstr(target->maps, "/libnode.so");
}

static void explain_node(const struct target *target)
{
	bool has_map = has_word(target, "--perf-basic-prof") || has_word(target, "--perf-prof");

	if (!target->is_node || target->has_v8)
		return;
	if (has_map && has_word(target, "--interpreted-frames-native-stack")) {
		puts("\nNode: its functions have names (--perf-basic-prof and "
		     "--interpreted-frames-native-stack are set)");
		return;
	}
	puts(has_map ? "\nNode: only compiled functions have names; start it with:"
		     : "\nNode: JavaScript functions have no names; start it with:");
	puts("      NODE_OPTIONS='--perf-basic-prof-only-functions "
	     "--interpreted-frames-native-stack' node …");
}

void doctor_runtime(uint32_t pid)
{
	struct target target = {.pid = pid, .servers = file_servers_new("")};
	size_t size;

	target.maps = read_file(pid, "maps", &size);
	target.words = read_words(pid);
	if (target.maps) {
		explain_java(&target);
		target.is_node = is_node(&target);
		/* takes the text apart */
		explain_images(&target);
		explain_node(&target);
	}
	free(target.maps);
	free(target.words);
	file_servers_free(target.servers);
}
