// SPDX-License-Identifier: BSD-2-Clause
/* Finds the files of a command as the kernel and the dynamic loader do. What is not found here is
 * found when it is mapped. */
#include "source/regions/region_command.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/elf_needed.h"

/* A program of a hundred libraries is a large one. */
#define MAX_FILES    256
#define MAX_SCRIPTS  4
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#else
#define MULTIARCH "aarch64-linux-gnu"
#endif
#define LIBRARY_PATH                                                                               \
	"/usr/local/lib/" MULTIARCH ":/usr/local/lib:/lib/" MULTIARCH ":/usr/lib/" MULTIARCH       \
	":/lib64:/usr/lib64:/lib:/usr/lib"

struct visit {
	region_command_fn *take;
	void *context;
	ARRAY_OF(char *) names;	 /* of libraries that were wanted so far */
	char run_path[PATH_MAX]; /* of the file that is being read */
	char origin[PATH_MAX];	 /* its directory */
};

/* Opens name in one of the directories; $ORIGIN stands for the one of the file that names it. */
static int open_in(const char *directories, const char *name, const char *origin, char *ret_path)
{
	_cleanup_free_ char *copy = strdup(directories);
	char *rest = copy, *directory;

	while (copy && (directory = strsep(&rest, ":"))) {
		bool is_relative = strncmp(directory, "$ORIGIN", 7) == 0;
		int length, fd;

		if (!*directory)
			continue;
		length = snprintf(ret_path, PATH_MAX, "%s%s/%s", is_relative ? origin : "",
				  directory + (is_relative ? 7 : 0), name);
		fd = length < PATH_MAX ? open(ret_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int open_program(const char *name, char *ret_path)
{
	const char *path = getenv("PATH");

	if (!strchr(name, '/'))
		return open_in(path ? path : DEFAULT_PATH, name, "", ret_path);
	if (snprintf(ret_path, PATH_MAX, "%s", name) >= PATH_MAX)
		return -1;
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static int open_library(const struct visit *visit, const char *name, char *ret_path)
{
	const char *of_user = getenv("LD_LIBRARY_PATH");
	int fd;

	/* Linked by its path, without a name of its own. */
	if (strchr(name, '/'))
		return snprintf(ret_path, PATH_MAX, "%s", name) < PATH_MAX
			       ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
			       : -1;
	fd = open_in(visit->run_path, name, visit->origin, ret_path);

	if (fd < 0 && of_user)
		fd = open_in(of_user, name, visit->origin, ret_path);
	return fd < 0 ? open_in(LIBRARY_PATH, name, "", ret_path) : fd;
}

static void want_library(void *context, const char *name)
{
	struct visit *visit = context;
	char **item;

	array_foreach(&visit->names, known)
		if (strcmp(*known, name) == 0)
			return;
	if (visit->names.count == MAX_FILES)
		return;
	item = array_add(&visit->names);
	if (item && !(*item = strdup(name)))
		visit->names.count--;
}

static void visit_file(struct visit *visit, int fd, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	struct elf_file file;
	char *slash;

	if (elf_file_open(&file, fd) < 0)
		return;
	visit->take(visit->context, fd, path);
	snprintf(visit->origin, sizeof(visit->origin), "%s", real ? real : path);
	slash = strrchr(visit->origin, '/');
	if (slash)
		*slash = '\0';
	elf_needed(&file, visit->run_path, sizeof(visit->run_path), want_library, visit);
	elf_file_done(&file);
}

/* The interpreter in "#! /usr/bin/env -S NAME ...": env is a way to it. false: no script. */
static bool read_interpreter(int fd, char ret_name[PATH_MAX])
{
	char line[PATH_MAX], *rest, *word;
	ssize_t size = pread(fd, line, sizeof(line) - 1, 0);

	if (size < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	rest = line + 2;
	while ((word = strsep(&rest, " \t"))) {
		const char *base = strrchr(word, '/');

		if (!*word || *word == '-' || strcmp(base ? base + 1 : word, "env") == 0)
			continue;
		snprintf(ret_name, PATH_MAX, "%s", word);
		return true;
	}
	return false;
}

void region_command_files(const char *command, region_command_fn *take, void *context)
{
	struct visit visit = {.take = take, .context = context};
	char path[PATH_MAX], name[PATH_MAX];

	snprintf(name, sizeof(name), "%s", command);
	for (int i = 0; i < MAX_SCRIPTS; i++) {
		_cleanup_close_ int fd = open_program(name, path);

		if (fd < 0)
			break;
		visit_file(&visit, fd, path);
		if (!read_interpreter(fd, name))
			break;
	}
	/* More become wanted meanwhile. */
	for (size_t i = 0; i < visit.names.count; i++) {
		_cleanup_close_ int fd = open_library(&visit, visit.names.items[i], path);

		if (fd >= 0)
			visit_file(&visit, fd, path);
	}
	array_foreach(&visit.names, each)
		free(*each);
	array_free(&visit.names);
}
