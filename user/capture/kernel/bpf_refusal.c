// SPDX-License-Identifier: BSD-2-Clause
/* The kernel answers EPERM for a missing capability, a seccomp filter, lockdown and security
 * modules alike: capabilities(7), seccomp(2), kernel_lockdown(7). */
#include "capture/kernel/bpf_refusal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "capture/kernel/capability_numbers.h"
#include "capture/kernel/namespace.h"

#define FILE_MAX_BYTES 16384

/* NULL: it cannot be read. The caller frees the text. */
static char *read_text(const char *root, const char *path)
{
	char full[PATH_MAX], *text = NULL;
	size_t size;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) >= sizeof(full) ||
	    file_read_all(AT_FDCWD, full, FILE_MAX_BYTES, &text, &size))
		return NULL;
	return text;
}

/* The number behind "Name:" at the beginning of a line. */
static unsigned long long status_number(const char *status, const char *name, int base)
{
	const char *line = strstr(status, name);

	while (line && line != status && line[-1] != '\n')
		line = strstr(line + 1, name);
	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

static bool has_bit(unsigned long long set, int capability)
{
	return set >> capability & 1;
}

struct bpf_refusal bpf_refusal_read(const char *root)
{
	_cleanup_free_ char *status = read_text(root, "/proc/self/status");
	_cleanup_free_ char *lockdown = read_text(root, "/sys/kernel/security/lockdown");
	_cleanup_free_ char *modules = read_text(root, "/sys/kernel/security/lsm");
	unsigned long long effective = status ? status_number(status, "CapEff:", 16) : 0;

	return (struct bpf_refusal){
		.is_in_user_namespace =
			status && !namespace_is_initial(root, "user", NAMESPACE_INITIAL_USER),
		.has_rights = has_bit(effective, CAP_SYS_ADMIN) ||
			      (has_bit(effective, CAP_BPF) && has_bit(effective, CAP_PERFMON)),
		.is_filtered = status && status_number(status, "Seccomp:", 10) == 2,
		.is_locked = lockdown && strstr(lockdown, "[confidentiality]"),
		.has_lsm = modules && (strstr(modules, "selinux") || strstr(modules, "bpf")),
	};
}

const char *bpf_refusal_text(const struct bpf_refusal *refusal)
{
	if (refusal->is_in_user_namespace)
		return NAMESPACE_OTHER_USER;
	if (!refusal->has_rights)
		return "CAP_BPF and CAP_PERFMON are missing; run with sudo, or grant them (in a "
		       "pod: "
		       "securityContext.capabilities.add: [BPF, PERFMON, SYS_PTRACE, SYSLOG, "
		       "DAC_READ_SEARCH, SYS_RESOURCE])";
	if (refusal->is_filtered)
		return "the capabilities are there, so the seccomp filter of the container refuses "
		       "bpf(); take a profile that allows bpf and perf_event_open (in a pod: "
		       "securityContext.seccompProfile.type: Unconfined; docker run --security-opt "
		       "seccomp=unconfined)";
	if (refusal->is_locked)
		return "kernel lockdown in mode confidentiality forbids BPF programs to read the "
		       "kernel's memory; boot with lockdown=integrity, or without Secure Boot";
	if (refusal->has_lsm)
		return "the capabilities are there and no seccomp filter is, so a security module "
		       "(SELinux, BPF LSM) refuses bpf(); see its log (ausearch -m avc) and allow "
		       "class bpf for this program";
	return "the capabilities are there, and neither a seccomp filter nor lockdown is; see the "
	       "kernel's log (dmesg) for what refuses bpf()";
}
