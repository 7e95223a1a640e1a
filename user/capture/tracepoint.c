// SPDX-License-Identifier: BSD-2-Clause
/* Looks tracepoints up in the running kernel's BTF. */
#include "capture/tracepoint.h"

#include <bpf/btf.h>
#include <stdio.h>

int tracepoint_argument_count(const char *name)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *type;
	char typedef_name[128];
	int id, count = 0;

	if (!btf)
		return 0;
	/* typedef void (*btf_trace_NAME)(void *, …) */
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF);
	type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(btf, type->type);
	if (type && btf_is_func_proto(type))
		count = btf_vlen(type);
	btf__free(btf);
	return count;
}
