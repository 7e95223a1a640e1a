// SPDX-License-Identifier: BSD-2-Clause
/* Runs the BPF program that symbolizes kernel addresses. */
#include "capture/kernel/kernel_namer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include <pkbpf/config.h>

#include "pkbpf.skel.h"

void kernel_namer_configure(struct pkbpf_bpf *skeleton, bool wanted)
{
	bool possible = wanted && libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_SYSCALL, NULL) > 0 &&
			libbpf_probe_bpf_helper(BPF_PROG_TYPE_SYSCALL, BPF_FUNC_snprintf, NULL) > 0;

	bpf_program__set_autoload(skeleton->progs.name_kernel_address, possible);
}

bool kernel_namer_ask(struct pkbpf_bpf *skeleton, uint64_t address, char *text, size_t size)
{
	struct pkbpf_kernel_name *name = &skeleton->bss->kernel_name;
	LIBBPF_OPTS(bpf_test_run_opts, options);

	if (!bpf_program__autoload(skeleton->progs.name_kernel_address) || !size)
		return false;
	name->address = address;
	if (bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.name_kernel_address),
				   &options) ||
	    options.retval)
		return false;
	name->text[sizeof(name->text) - 1] = '\0';
	strncpy(text, name->text, size - 1);
	text[size - 1] = '\0';
	return true;
}
