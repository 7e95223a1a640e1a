// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/privileges.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/array.h"
#include "capture/kernel/capability_numbers.h"
#include "capture/kernel/syscall_filter.h"

static const cap_value_t kept[] = {
	/* programs, maps, events */
	CAP_BPF, CAP_PERFMON, CAP_IPC_LOCK, CAP_SYS_RESOURCE,
	/* perf_event_paranoid 3, BPF statistics, network namespaces of targets */
	CAP_SYS_ADMIN,
	/* files, mappings and memory of targets; addresses of the kernel */
	CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_CHECKPOINT_RESTORE, CAP_SYSLOG,
	/* the thread that reads the rings */
	CAP_SYS_NICE,
	/* outputs in the directories of the user behind sudo, and its downloads and command */
	CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER, CAP_SETUID, CAP_SETGID, CAP_KILL};

static bool is_kept(cap_value_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i] == value)
			return true;
	return false;
}

/* Of those that the thread has. Inheritable and ambient ones go. */
static int set_capabilities(void)
{
	cap_t now = cap_get_proc(), less = cap_init();
	int err = now && less ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(kept) && !err; i++) {
		static const cap_flag_t flags[] = {CAP_PERMITTED, CAP_EFFECTIVE};

		for (size_t j = 0; j < ARRAY_SIZE(flags); j++) {
			cap_flag_value_t value;

			/* An older kernel does not know the latest ones. */
			if (cap_get_flag(now, kept[i], flags[j], &value) == 0 && value == CAP_SET)
				cap_set_flag(less, flags[j], 1, &kept[i], CAP_SET);
		}
	}
	if (!err && cap_set_proc(less))
		err = -errno;
	if (now)
		cap_free(now);
	if (less)
		cap_free(less);
	return err;
}

/* No reason not to profile. */
static int refuse_system_calls(bool has_network, const struct log *log)
{
	int err = syscall_filter_load(has_network);

	if (err != -ENOTSUP)
		return err;
	log_warning(log,
		    "system calls are not filtered, since seccomp is not available: a file of a "
		    "target that took over its reader could use the network; run on a kernel with "
		    "CONFIG_SECCOMP_FILTER, or in a sandbox that allows seccomp()");
	return 0;
}

int privileges_reduce(bool has_network, const struct log *log, struct error *error)
{
	int err;

	/* Needs CAP_SETPCAP; without it no_new_privs alone keeps them from coming back. */
	for (cap_value_t value = 0; cap_get_bound(value) >= 0; value++)
		if (!is_kept(value))
			cap_drop_bound(value);
	err = set_capabilities();
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (!err)
		err = refuse_system_calls(has_network, log);
	return err ? error_set(error, -err, "cannot give up privileges: %s", strerror(-err)) : 0;
}
