// SPDX-License-Identifier: BSD-2-Clause
#include "reader/reader_jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <seccomp.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/array.h"
#include "reader/reader_service.h"

/* No user of a system is among them: services of user nobody could stop and end a reader of theirs.
 * Ranges that systemd leaves unused, and one that it gives away for a while, for a user namespace
 * that has no more. */
static const struct {
	uint32_t first, count;
} unused_ids[] = {{0x70000000, 0xffd0000}, {61184, 4000}};

/* Debug information of the largest programs is read as a whole. */
#define MAX_MEMORY_BYTES (6ULL << 30)
/* Its own, the file that is read, debug files that belong to it. */
#define MAX_FILES 1024
/* A reader ends itself long before, between two questions. */
#define MAX_CPU_SECONDS 3600

static bool has_capability(cap_value_t capability)
{
	cap_t now = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	if (now) {
		cap_get_flag(now, capability, CAP_EFFECTIVE, &value);
		cap_free(now);
	}
	return value == CAP_SET;
}

/* Not possible in a user namespace without such ids: then capabilities alone go. So they do where
 * the keeper could not end a process of another user. */
static void become_another_user(void)
{
	uint32_t random = 0;

	if (geteuid() != 0 || !has_capability(CAP_KILL) || setgroups(0, NULL) < 0 ||
	    getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(unused_ids); i++) {
		uint32_t id = unused_ids[i].first + random % unused_ids[i].count;

		if (setresgid(id, id, id) == 0 && setresuid(id, id, id) == 0)
			return;
	}
}

static int keep_capabilities(const cap_value_t *values, size_t count)
{
	cap_t less = cap_init();
	int err = less ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		if (!has_capability(values[i]))
			continue;
		cap_set_flag(less, CAP_PERMITTED, 1, &values[i], CAP_SET);
		cap_set_flag(less, CAP_EFFECTIVE, 1, &values[i], CAP_SET);
	}
	if (!err && cap_set_proc(less) < 0)
		err = -errno;
	if (less)
		cap_free(less);
	return err;
}

static int stay_so(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return 0;
}

int reader_jail_guard(void)
{
	static const cap_value_t kept[] = {CAP_SETUID, CAP_SETGID, CAP_KILL};
	int err = keep_capabilities(kept, ARRAY_SIZE(kept));

	return err ? err : stay_so();
}

int reader_jail_drop(void)
{
	int err;

	become_another_user();
	err = keep_capabilities(NULL, 0);
	return err ? err : stay_so();
}

static int limit(int resource, rlim_t value)
{
	struct rlimit now, next = {value, value};

	if (getrlimit(resource, &now) < 0)
		return -errno;
	if (now.rlim_max < value)
		next.rlim_cur = next.rlim_max = now.rlim_max;
	return setrlimit(resource, &next) < 0 ? -errno : 0;
}

static int set_limits(void)
{
	static const struct {
		int resource;
		rlim_t value;
	} limits[] = {
#ifndef READER_IS_SANITIZED /* their shadows are larger */
		{RLIMIT_AS, MAX_MEMORY_BYTES},
#endif
		{RLIMIT_FSIZE, READER_MAX_REPLY_BYTES}, /* of files in memory */
		{RLIMIT_NOFILE, MAX_FILES},
		{RLIMIT_CORE, 0},
		{RLIMIT_CPU, MAX_CPU_SECONDS},
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits) && !err; i++)
		err = limit(limits[i].resource, limits[i].value);
	return err;
}

/* What the parsers, the C library's memory and clocks, and the sending of answers take. Refused
 * rather than deadly: a library that tries whether it may open a file of its own goes on. */
static const char *const allowed[] = {
	/* from open files */
	"read", "readv", "pread64", "preadv", "lseek", "_llseek", "fstat", "fstat64", "close",
	/* memory */
	"brk", "munmap", "mremap", "madvise",
	/* questions and answers */
	"recvmsg", "sendmsg", "poll", "ppoll", "memfd_create", "ftruncate", "write", "writev",
	"pwrite64", "pwritev",
	/* itself */
	"clock_gettime", "clock_gettime64", "gettimeofday", "getrusage", "futex", "getpid",
	"gettid", "getrandom", "sched_yield", "sched_getaffinity", "rt_sigprocmask", "rt_sigreturn",
	"restart_syscall", "rseq", "exit", "exit_group"};

#ifdef READER_IS_SANITIZED
static const char *const allowed_to_sanitizers[] = {"sigaltstack", "rt_sigaction", "tgkill",
						    "readlink",	   "openat",	   "newfstatat",
#ifdef PKBPF_COVERAGE
						    "mkdir",	   "access"
#endif
};
#else
static const char *const allowed_to_sanitizers[] = {"exit"};
#endif

static int allow(scmp_filter_ctx filter, const char *const *names, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		/* Not on this architecture, or newer than the library. */
		if (number != __NR_SCMP_ERROR)
			err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	}
	return err == -EEXIST ? 0 : err;
}

/* No commands that have signals sent: those would reach the keeper. No code but what is there. */
static int allow_some(scmp_filter_ctx filter)
{
	static const int commands[] = {F_DUPFD_CLOEXEC, F_DUPFD,     F_GETFD,	  F_SETFD,
				       F_GETFL,		F_ADD_SEALS, F_GET_SEALS,
#ifdef PKBPF_COVERAGE
				       F_SETLKW
#endif
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(commands) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
				       SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i], 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				       SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return err;
}

/* glibc calls newfstatat() for fstat(): with an empty path it looks at an open file. The path is
 * not in a filter's reach, but the flag that makes it mean this is, and a path that is not empty
 * leads nowhere without a working directory that may be searched. */
static int allow_fstat(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH, 0));
}

static int load_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	/* Else all errors of the kernel are one, -ECANCELED. */
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
	if (!err)
		err = allow(filter, allowed, ARRAY_SIZE(allowed));
	if (!err)
		err = allow(filter, allowed_to_sanitizers, ARRAY_SIZE(allowed_to_sanitizers));
	if (!err)
		err = allow_some(filter);
	if (!err)
		err = allow_fstat(filter);
	if (!err)
		err = seccomp_load(filter);
	/* No seccomp, or not for us (EFAULT: the library did not expect it): without it a reader
	 * has few rights; here it would have all. Who started us says so, about itself. */
	if (err == -EINVAL || err == -ENOSYS || err == -EPERM || err == -EACCES || err == -EFAULT)
		err = 0;
	if (filter)
		seccomp_release(filter);
	return err;
}

int reader_jail_close(void)
{
	int err = set_limits();

	return err ? err : load_filter();
}
