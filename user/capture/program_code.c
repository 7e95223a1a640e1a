// SPDX-License-Identifier: BSD-2-Clause
/* Asks the kernel where it has put what it compiled. */
#include "capture/program_code.h"

#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"

/* Of one program, with its subprograms; ours have some dozens at most. */
#define FUNCTIONS_MAX 256

static int each_function(int fd, int (*take)(void *context, uint64_t start, uint64_t length),
			 void *context)
{
	uint64_t starts[FUNCTIONS_MAX] = {0};
	uint32_t lengths[FUNCTIONS_MAX] = {0};
	struct bpf_prog_info info = {
		.nr_jited_ksyms = FUNCTIONS_MAX,
		.jited_ksyms = (uint64_t)(uintptr_t)starts,
		.nr_jited_func_lens = FUNCTIONS_MAX,
		.jited_func_lens = (uint64_t)(uintptr_t)lengths,
	};
	uint32_t size = sizeof(info);
	int err = 0;

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return 0;
	for (size_t i = 0;
	     i < info.nr_jited_ksyms && i < info.nr_jited_func_lens && i < FUNCTIONS_MAX && !err;
	     i++)
		err = starts[i] && lengths[i] ? take(context, starts[i], lengths[i]) : 0;
	return err;
}

int program_code_each(const struct bpf_object *object,
		      int (*take)(void *context, uint64_t start, uint64_t length), void *context)
{
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, (struct bpf_object *)object)
	{
		int fd = bpf_program__fd(program);

		if (fd >= 0)
			err = each_function(fd, take, context);
		if (err)
			break;
	}
	return err;
}
