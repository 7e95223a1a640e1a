/* SPDX-License-Identifier: BSD-2-Clause */
/* What files of this room ask a process for; nobody else includes this. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_PROCESS_PRIVATE_H
#define PKBPF_HOTSPOT_HOTSPOT_PROCESS_PRIVATE_H

#include "hotspot/hotspot_process.h"

uint64_t hotspot_process_bias(const struct hotspot_process *process);

#endif
