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
	possible = possible && libbpf_probe_bpf_helper(BPF_PROG_TYPE_SYSCALL,
						       BPF_FUNC_kallsyms_lookup_name, NULL) > 0;
	bpf_program__set_autoload(skeleton->progs.find_kernel_function, possible);
}

/* false: it is not loaded, or has no answer. */
static bool run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_program__autoload(program) &&
	       !bpf_prog_test_run_opts(bpf_program__fd(program), &options) && !options.retval;
}

bool kernel_namer_ask(struct pkbpf_bpf *skeleton, uint64_t address, char *text, size_t size)
{
	struct pkbpf_kernel_name *name = &skeleton->bss->kernel_name;

	if (!size)
		return false;
	name->address = address;
	if (!run(skeleton->progs.name_kernel_address))
		return false;
	name->text[sizeof(name->text) - 1] = '\0';
	strncpy(text, name->text, size - 1);
	text[size - 1] = '\0';
	return true;
}

bool kernel_namer_find(struct pkbpf_bpf *skeleton, const char *function, uint64_t *ret_address)
{
	struct pkbpf_kernel_name *name = &skeleton->bss->kernel_name;

	/* The kernel wants the last byte of all to be 0. */
	memset(name->text, 0, sizeof(name->text));
	strncpy(name->text, function, sizeof(name->text) - 1);
	if (!run(skeleton->progs.find_kernel_function) || !name->address)
		return false;
	*ret_address = name->address;
	return true;
}
