// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Symbolizes kernel addresses with the kernel's own symbol lookup. */
#include "shared.bpf.h"

/* A lookup takes two microseconds; reading all of /proc/kallsyms costs the kernel 30 to 50 ms. The
 * lookup also resolves addresses that kernel.kptr_restrict hides. */
struct pkbpf_kernel_name kernel_name = {};

SEC("syscall")
int name_kernel_address(void *ctx)
{
	static const char format[] = "%pS";
	__u64 address = kernel_name.address;

	return bpf_snprintf(kernel_name.text, sizeof(kernel_name.text), format, &address,
			    sizeof(address)) > 0
		       ? 0
		       : 1;
}

/* The other way round, for the kernel's image: `text` is a function's name. Linux 5.16. */
SEC("syscall")
int find_kernel_function(void *ctx)
{
	__u64 address = 0;

	if (bpf_kallsyms_lookup_name(kernel_name.text, sizeof(kernel_name.text), 0, &address))
		return 1;
	kernel_name.address = address;
	return 0;
}
