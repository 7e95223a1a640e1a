// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/nvml_jail.h"

#include <errno.h>
#include <grp.h>
#include <seccomp.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

/* A range that systemd leaves unused: no service has it. */
#define UNUSED_ID 0x70000000U
#define MAX_FILES 256

/* What the library is for opens devices and reads files. */
static const char *const refused[] = {"execve",
				      "execveat",
				      "ptrace",
				      "process_vm_readv",
				      "process_vm_writev",
				      "pidfd_getfd",
				      "kcmp",
				      "bpf",
				      "perf_event_open",
				      "userfaultfd",
				      "open_by_handle_at",
				      "syslog",
				      "setns",
				      "unshare",
				      "chroot",
				      "pivot_root",
				      "mount",
				      "umount2",
				      "move_mount",
				      "open_tree",
				      "fsopen",
				      "fsconfig",
				      "fsmount",
				      "fspick",
				      "mount_setattr",
				      "mknod",
				      "mknodat",
				      "init_module",
				      "finit_module",
				      "delete_module",
				      "kexec_load",
				      "kexec_file_load",
				      "reboot",
				      "swapon",
				      "swapoff",
				      "keyctl",
				      "add_key",
				      "request_key",
				      "io_uring_setup"};
static const int families[] = {AF_INET, AF_INET6, AF_PACKET, AF_ALG, AF_VSOCK};

/* The group of devices that not everybody may open. */
static gid_t group_of_devices(void)
{
	struct stat device;

	if (stat("/dev/nvidiactl", &device) < 0 || (device.st_mode & 06) == 06)
		return UNUSED_ID;
	return device.st_gid ? device.st_gid : UNUSED_ID;
}

/* Not possible in a user namespace without such ids: then capabilities alone go. */
static void become_another_user(void)
{
	gid_t group = group_of_devices();

	if (geteuid() != 0 || setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0)
		return;
	if (setresuid(UNUSED_ID, UNUSED_ID, UNUSED_ID) == 0)
		/* Else what is in /proc of its own belongs to root. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int drop_capabilities(void)
{
	cap_t none = cap_init();
	int err = none && cap_set_proc(none) == 0 ? 0 : -errno;

	if (none)
		cap_free(none);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		err = -errno;
	return err;
}

static void set_limits(void)
{
	const struct rlimit none = {0, 0}, files = {MAX_FILES, MAX_FILES};

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Without seccomp it has few rights all the same. */
static void load_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	if (!filter)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int number = seccomp_syscall_resolve_name(refused[i]);

		if (number != __NR_SCMP_ERROR)
			seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
				 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i], 0));
	seccomp_load(filter);
	seccomp_release(filter);
}

int nvml_jail_close(void)
{
	int err;

	become_another_user();
	err = drop_capabilities();
	if (err)
		return err;
	set_limits();
	load_filter();
	return 0;
}
