/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities of this kernel and user: a table of probes, each run at most once. */
#ifndef PKBPF_CAPTURE_KERNEL_CAPABILITY_H
#define PKBPF_CAPTURE_KERNEL_CAPABILITY_H

#include <stdbool.h>

#include "base/error.h"

enum capability {
	CAPABILITY_PRIVILEGED,	/* may load tracing BPF programs and open system-wide perf events */
	CAPABILITY_KERNEL_BTF,	/* /sys/kernel/btf/vmlinux */
	CAPABILITY_RING_BUFFER, /* BPF ring buffer: 5.8 */
	CAPABILITY_PERF_EVENT,	/* perf_event_open is compiled in and allowed */
	CAPABILITY_HARDWARE_PMU,	     /* cycles can be sampled */
	CAPABILITY_INITIAL_USER_NAMESPACE,   /* privileges are the kernel's, not a container's */
	CAPABILITY_INITIAL_PID_NAMESPACE,    /* pkbpf sees the same pids as the kernel */
	CAPABILITY_INITIAL_CGROUP_NAMESPACE, /* all cgroups have paths */
	CAPABILITY_OTHERS_MEMORY,	     /* maps and memory of other users' processes */
	CAPABILITY_OTHERS_FILES,	     /* files and directories of other users */
	CAPABILITY_MAP_MEMORY,		     /* memory of BPF maps is not limited */
	CAPABILITY_KERNEL_SYMBOLS,	     /* /proc/kallsyms shows addresses */
	CAPABILITY_KERNEL_PROBES,	     /* functions of the kernel can be probed */
	CAPABILITY_BPF_TIME,		     /* run time of BPF programs */
	CAPABILITY_WHOLE_PROC,		     /* /proc has machine-wide files, not only processes */
	CAPABILITY_ENERGY,		     /* what the machine takes is measured */
	CAPABILITY_TEMPERATURE,		     /* of a CPU */
	CAPABILITY_FREQUENCY,		     /* of the CPUs */
	CAPABILITY_GPU,			     /* some has figures */
	CAPABILITY_GPU_CALLS,		     /* of CUDA and HIP can be watched, and are there */
	CAPABILITY_COUNT,
};

struct capability_ops {
	const char *name;
	bool required; /* profiling is impossible without it */
	/* true: present. false: *error says why and, after "; ", what to do. */
	bool (*probe)(struct error *error);
	const char *without; /* what works all the same; NULL: nothing does */
	bool says_what;	     /* also of what is present: the error says what was found */
};

const struct capability_ops *capability_get(enum capability capability);
/* -EPERM or -ENOTSUP with the remedy when a required capability is missing. */
int capability_check_required(struct error *error);

#endif
