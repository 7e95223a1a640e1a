// SPDX-License-Identifier: BSD-2-Clause
#include "source/context/context_variable.h"

#include <errno.h>

/* Of modules of a process. */
#define MAX_MODULE 65536U

static int use_offset(struct pkbpf_context_process *process, int64_t offset)
{
	process->form = PKBPF_CONTEXT_STATIC;
	process->offset = offset;
	return 0;
}

/* The vector of a thread has two words for each module with glibc, one with musl. */
static int use_module(const struct context_process_view *view,
		      struct pkbpf_context_process *process, uint64_t module, int64_t offset)
{
	if (!module || module > MAX_MODULE)
		return -EAGAIN;
	process->form = PKBPF_CONTEXT_DYNAMIC;
	process->offset = offset;
	process->entry = module * (view->is_musl ? 8 : 16);
#if defined(__aarch64__)
	process->vector = view->is_musl ? -8 : 0;
#else
	process->vector = 8;
#endif
	return 0;
}

/* The argument of a descriptor is the offset, or of libraries that were loaded later the address of
 * module and offset. On x86-64 offsets are negative. */
static int use_descriptor(const struct context_process_view *view,
			  struct pkbpf_context_process *process, const int64_t *words)
{
	uint64_t index[2];
	int err;

	if (!words[0])
		return -EAGAIN;
#if defined(__aarch64__)
	if (words[1] >= 0 && words[1] < 1 << 30)
		return use_offset(process, words[1]);
#else
	if (words[1] < 0)
		return use_offset(process, words[1]);
#endif
	err = view->read(view->context, (uint64_t)words[1], index, sizeof(index));
	return err ? err : use_module(view, process, index[0], (int64_t)index[1]);
}

int context_variable_resolve(const struct context_process_view *view,
			     const struct context_place *place, uint64_t map_start,
			     struct pkbpf_context_process *process)
{
	int64_t words[2] = {0};
	int err = 0;

	if (place->model != TLS_FIXED)
		err = view->read(view->context, map_start + (uint64_t)place->slot, words,
				 place->model == TLS_OFFSET ? sizeof(words[0]) : sizeof(words));
	if (err)
		return err;
	switch (place->model) {
	case TLS_FIXED:
		return use_offset(process, place->value);
	case TLS_OFFSET:
		return words[0] ? use_offset(process, words[0]) : -EAGAIN;
	case TLS_MODULE:
		return use_module(view, process, (uint64_t)words[0], words[1]);
	case TLS_MODULE_ALONE:
		return use_module(view, process, (uint64_t)words[0], place->value);
	case TLS_DESCRIPTOR:
		return use_descriptor(view, process, words);
	default:
		return -EBADMSG;
	}
}
