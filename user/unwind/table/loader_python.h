/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the kernel side where the Python interpreter of a process keeps its threads. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_PYTHON_H
#define PKBPF_UNWIND_TABLE_LOADER_PYTHON_H

#include "unwind/table/loader_private.h"

/* Number of a layout (struct pkbpf_python_layout, pkbpf_ruby_layout) in the kernel side's map;
 * LOADER_PYTHON_LAYOUTS: no room. */
uint32_t loader_layout_number(struct unwind_loader *loader, const void *layout);
/* Describes the interpreter that the process has mapped; all 0: none. Looks for the slots of its
 * threads, unless it did since process->python_looked was unset. */
struct pkbpf_python_process loader_python_of(struct unwind_loader *loader,
					     struct tracked_process *process);

#endif
