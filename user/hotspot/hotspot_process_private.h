/* SPDX-License-Identifier: BSD-2-Clause */
/* For files of this directory only. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_PROCESS_PRIVATE_H
#define PKBPF_HOTSPOT_HOTSPOT_PROCESS_PRIVATE_H

#include "hotspot/hotspot_process.h"

uint64_t hotspot_process_bias(const struct hotspot_process *process);

#endif
