// SPDX-License-Identifier: BSD-2-Clause
/* Asks libdebuginfod for debug files, within a limit of time. */
#include "symbol/elf/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounded_job.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "symbol/elf/debug_file.h"
#include "symbol/elf/debuginfod_client.h"
#include "symbol/symbol_notes.h"

/* The stable interface of elfutils since 0.178. */
#define LIBRARY "libdebuginfod.so.1"
#ifndef PKBPF_STATIC
typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *id, int size, char **ret_path);
#endif

/* What a job can send back. A longer path in the cache is as good as none. */
#define MAX_PATH_BYTES 1024
/* Failures in a row after which no more is asked. */
#define MAX_FAILURES 3

struct debuginfod {
	bool allowed;
	struct debuginfod_user user;
	uint64_t left_ns, limit_ns;
	int err; /* that ended all asking; 0: none */
	size_t asked, found, absent, not_asked, wrong;
	unsigned int failures; /* in a row */
	pid_t left;	       /* a process that was killed, and may not have ended; 0: none */
};

struct debuginfod *debuginfod_new(uint64_t limit_ns)
{
	struct debuginfod *debuginfod = calloc(1, sizeof(*debuginfod));

	if (debuginfod)
		debuginfod->left_ns = debuginfod->limit_ns = limit_ns;
	return debuginfod;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
	if (debuginfod && debuginfod->left)
		bounded_job_has_ended(debuginfod->left);
	free(debuginfod);
}

void debuginfod_run_as(struct debuginfod *debuginfod, const struct debuginfod_user *user)
{
	debuginfod->user = *user;
}

void debuginfod_allow(struct debuginfod *debuginfod)
{
	debuginfod->allowed = true;
}

bool debuginfod_is_allowed(const struct debuginfod *debuginfod)
{
	return debuginfod->allowed;
}

struct question {
	const struct build_id *id;
	const struct debuginfod_user *user;
};

/* What servers answer is not parsed as root, and the cache is that of the user who may empty it. */
static int become(const struct debuginfod_user *user)
{
	if (!user->uid)
		return 0;
	if (setgroups(1, &user->gid) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	if (user->home)
		setenv("HOME", user->home, 1);
	/* It ends with its parent, which the change of user has made it forget. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return 0;
}

#ifdef PKBPF_STATIC
static int ask(const struct build_id *id, char path[MAX_PATH_BYTES])
{
	return debuginfod_client_find(id, path, MAX_PATH_BYTES);
}
#else
/* -ELIBACC: there is no such library. */
static int ask(const struct build_id *id, char path[MAX_PATH_BYTES])
{
	begin_function *begin;
	find_function *find_debuginfo;
	void *library = dlopen(LIBRARY, RTLD_NOW), *client;
	char *found = NULL;
	int fd;

	if (!library)
		return -ELIBACC;
	begin = (begin_function *)dlsym(library, "debuginfod_begin");
	find_debuginfo = (find_function *)dlsym(library, "debuginfod_find_debuginfo");
	client = begin && find_debuginfo ? begin() : NULL;
	if (!client)
		return -ELIBACC;
	fd = find_debuginfo(client, id->bytes, (int)id->size, &found);
	if (fd < 0)
		return fd;
	if (!found || strlen(found) >= MAX_PATH_BYTES)
		return -ENAMETOOLONG;
	strcpy(path, found);
	return 0;
}
#endif

/* In a process of its own, without any descriptors: what the library opens must not become its
 * output. */
static int find(void *context, void *result)
{
	const struct question *question = context;
	int err;

	for (int i = 0; i <= STDERR_FILENO; i++)
		if (fcntl(i, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return -errno;
	err = become(question->user);
	return err ? err : ask(question->id, result);
}

/* Of the path the library has put it at. */
static int open_cached(struct debuginfod *debuginfod, const char *path, const struct build_id *id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (debug_file_has_build_id(fd, id))
		return fd;
	close(fd);
	debuginfod->wrong++;
	return -ENOEXEC;
}

/* Whether the next file would meet the same: no library, no servers, no time left; or a server or
 * connection that fails again and again. */
static bool is_final(struct debuginfod *debuginfod, int err)
{
	if (err >= 0 || err == -ENOENT || err == -ENOEXEC) {
		debuginfod->failures = 0;
		return false;
	}
	return err == -ELIBACC || err == -ENOSYS || err == -ETIMEDOUT ||
	       ++debuginfod->failures == MAX_FAILURES;
}

int debuginfod_open(struct debuginfod *debuginfod, const struct build_id *id)
{
	char path[MAX_PATH_BYTES] = "";
	struct question question = {id, &debuginfod->user};
	struct bounded_job job = {
		.run = find,
		.context = &question,
		.result = path,
		.result_size = sizeof(path),
		.kept_fd = -1,
		.quiet_ns = debuginfod->left_ns,
		.limit_ns = debuginfod->left_ns,
	};
	uint64_t begin_ns = clock_now_ns(), took_ns;
	int ret;

	if (!debuginfod->allowed)
		return -ENOENT;
	if (debuginfod->err) {
		debuginfod->not_asked++;
		return -ENOENT;
	}
	debuginfod->asked++;
	ret = bounded_job_run(&job, &debuginfod->left);
	took_ns = clock_now_ns() - begin_ns;
	debuginfod->left_ns -= took_ns < debuginfod->left_ns ? took_ns : debuginfod->left_ns;
	path[sizeof(path) - 1] = '\0';
	if (ret >= 0)
		ret = open_cached(debuginfod, path, id);
	debuginfod->found += ret >= 0;
	debuginfod->absent += ret == -ENOENT;
	if (is_final(debuginfod, ret))
		debuginfod->err = ret;
	return ret;
}

static const char *error_text(int err)
{
	switch (err) {
	case -ELIBACC:
		return LIBRARY " is not installed (Debian: libdebuginfod1, Fedora: "
			       "elfutils-debuginfod-client)";
	case -ETIMEDOUT:
	case -ETIME:
		return "no answer within the limit (--debuginfod-limit)";
	case -ENOSYS:
		return "DEBUGINFOD_URLS is not set";
	case -EIO:
		return "the look-up failed";
	default:
		return strerror(-err);
	}
}

void debuginfod_tell(const struct debuginfod *debuginfod, struct symbol_notes *notes)
{
	if (debuginfod->wrong)
		symbol_notes_add(notes,
				 "debuginfod: %zu answer%s not the debug file asked for; remove "
				 "the cache of debuginfod and check DEBUGINFOD_URLS",
				 debuginfod->wrong, debuginfod->wrong == 1 ? " is" : "s are");
	if (debuginfod->err)
		symbol_notes_add(notes, "debuginfod: %s; found %zu of %zu debug files",
				 error_text(debuginfod->err), debuginfod->found,
				 debuginfod->asked + debuginfod->not_asked);
	else if (debuginfod->absent)
		symbol_notes_add(notes, "debuginfod: no server has %zu of %zu debug files",
				 debuginfod->absent, debuginfod->asked);
}
