/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the kernel refuses bpf() with EPERM or EACCES, and what to change. */
#ifndef PKBPF_CAPTURE_KERNEL_BPF_REFUSAL_H
#define PKBPF_CAPTURE_KERNEL_BPF_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_refusal {
	bool is_in_user_namespace; /* rights count there only */
	bool has_rights;	   /* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, are effective */
	bool is_filtered;	   /* system calls of this process pass a seccomp filter */
	bool is_locked;		   /* kernel lockdown in mode confidentiality */
	bool has_lsm;		   /* SELinux or BPF programs of a security policy are active */
};

/* Reads below root ("" for this machine): /proc/self/status and ns/user, and
 * /sys/kernel/security/lockdown and lsm.
 * What cannot be read is taken for absent. */
struct bpf_refusal bpf_refusal_read(const char *root);
/* Cause and remedy, "…; …". Static. */
const char *bpf_refusal_text(const struct bpf_refusal *refusal);

#endif
