/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes from a process all that NVIDIA's library has no need for; private to this folder. */
#ifndef PKBPF_GPU_NVML_JAIL_H
#define PKBPF_GPU_NVML_JAIL_H

/* Another user than root, with an id of its own, in the group of the devices where that alone may
 * open them; no capability, no new privileges; small files, no core dumps. System calls that run
 * programs, look into other processes, mount, load into the kernel or reach the network are
 * refused, where the kernel can do that. For good. Negative errno: it still has capabilities. */
int nvml_jail_close(void);

#endif
