// SPDX-License-Identifier: BSD-2-Clause
#include "capture/kernel/syscall_filter.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/socket.h>

#include "base/array.h"

/* Refused rather than all others allowed: the C library takes other calls on other machines, and a
 * profile that lacks something because of that would be a riddle. */
static const char *const refused[] = {
	"chroot", "pivot_root", "personality", "unshare",
#if !defined(__SANITIZE_ADDRESS__) /* whose check for leaks stops its own threads */
	"ptrace",
#endif
	/* memory and descriptors of other processes, other than to read */
	"process_vm_writev", "pidfd_getfd", "process_madvise", "migrate_pages", "move_pages",
	"userfaultfd", "kcmp",
	/* file systems */
	"mount", "umount", "umount2", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount",
	"fspick", "mount_setattr", "swapon", "swapoff", "quotactl", "quotactl_fd", "mknod",
	"mknodat", "fanotify_init", "acct",
	/* the kernel and the machine */
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot",
	"iopl", "ioperm", "modify_ldt", "settimeofday", "clock_settime", "clock_adjtime",
	"adjtimex", "sethostname", "setdomainname", "vhangup",
	/* parts of the kernel with a history, which nothing here needs */
	"io_uring_setup", "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key",
	"lookup_dcookie", "uselib", "nfsservctl"};

/* Other programs, and other identities than the target's user for downloads. */
static const char *const refused_to_captures[] = {"execve", "execveat"};

static const char *const refused_to_fronts[] = {
	"bpf", "perf_event_open", "process_vm_readv", "open_by_handle_at", "setns", "syslog"};

static int refuse(scmp_filter_ctx filter, const char *const *names, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		/* Not on this architecture, or newer than the library. */
		if (number != __NR_SCMP_ERROR)
			err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	return err;
}

/* Readiness for systemd, sockets of targets and addresses from the kernel; IP where it is for the
 * network. */
static int refuse_sockets(scmp_filter_ctx filter, bool has_network)
{
	for (int family = 0; family < AF_MAX; family++) {
		int err;

		if (family == AF_UNIX || family == AF_NETLINK ||
		    (has_network && (family == AF_INET || family == AF_INET6)))
			continue;
		err = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family, 0));
		if (err)
			return err;
	}
	return 0;
}

/* Takes over the filter. */
static int load(scmp_filter_ctx filter, int err)
{
	if (!err)
		err = seccomp_load(filter);
	/* EFAULT is the library's word for what it does not expect. */
	if (err == -EINVAL || err == -ENOSYS || err == -EPERM || err == -EACCES || err == -EFAULT)
		err = -ENOTSUP;
	if (filter)
		seccomp_release(filter);
	return err;
}

static int begin(scmp_filter_ctx *ret_filter)
{
	int err;

	*ret_filter = seccomp_init(SCMP_ACT_ALLOW);
	if (!*ret_filter)
		return -ENOMEM;
	/* Else all errors of the kernel are one, -ECANCELED. */
	err = seccomp_attr_set(*ret_filter, SCMP_FLTATR_API_SYSRAWRC, 1);
	return err ? err : refuse(*ret_filter, refused, ARRAY_SIZE(refused));
}

int syscall_filter_load(bool has_network)
{
	scmp_filter_ctx filter;
	int err = begin(&filter);

	if (!err)
		err = refuse(filter, refused_to_captures, ARRAY_SIZE(refused_to_captures));
	if (!err && !has_network)
		err = refuse_sockets(filter, false);
	return load(filter, err);
}

int syscall_filter_load_front(void)
{
	scmp_filter_ctx filter;
	int err = begin(&filter);

	if (!err)
		err = refuse(filter, refused_to_fronts, ARRAY_SIZE(refused_to_fronts));
	if (!err)
		err = refuse_sockets(filter, true);
	return load(filter, err);
}
