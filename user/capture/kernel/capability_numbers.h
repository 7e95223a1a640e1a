/* SPDX-License-Identifier: BSD-2-Clause */
/* libcap, with the capabilities that headers of older kernels do not name. */
#ifndef PKBPF_CAPTURE_KERNEL_CAPABILITY_NUMBERS_H
#define PKBPF_CAPTURE_KERNEL_CAPABILITY_NUMBERS_H

#include <sys/capability.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#endif
