/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the kernel side how the V8 of a process (Node) describes its functions. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_V8_H
#define PKBPF_UNWIND_TABLE_LOADER_V8_H

#include "unwind/table/loader_private.h"

/* All 0: the process has no V8 whose version is known. */
struct pkbpf_v8_process loader_v8_of(struct unwind_loader *loader,
				     const struct tracked_process *process);

#endif
