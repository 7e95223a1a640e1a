/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the kernel side where the Ruby interpreter of a process keeps its threads. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_RUBY_H
#define PKBPF_UNWIND_TABLE_LOADER_RUBY_H

#include "unwind/table/loader_private.h"

/* As loader_python_of(), for a process without Python. */
struct pkbpf_python_process loader_ruby_of(struct unwind_loader *loader,
					   struct tracked_process *process);

#endif
