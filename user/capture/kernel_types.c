// SPDX-License-Identifier: BSD-2-Clause
/* Looks tracepoints, functions and types up in the running kernel's BTF. */
#include "capture/kernel_types.h"

#include <bpf/btf.h>
#include <stdio.h>

int kernel_types_tracepoint_arguments(const struct btf *types, const char *tracepoint)
{
	const struct btf_type *type;
	char typedef_name[128];
	int id;

	/* typedef void (*btf_trace_NAME)(void *, …) */
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", tracepoint);
	id = types ? btf__find_by_name_kind(types, typedef_name, BTF_KIND_TYPEDEF) : 0;
	type = id > 0 ? btf__type_by_id(types, (__u32)id) : NULL;
	type = type ? btf__type_by_id(types, type->type) : NULL;
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(types, type->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

uint32_t kernel_types_word(const struct btf *types)
{
	int id;

	if (!types || btf__find_by_name_kind(types, "bpf_rdonly_cast", BTF_KIND_FUNC) <= 0)
		return 0;
	id = btf__find_by_name_kind(types, "timespec64", BTF_KIND_STRUCT);
	return id > 0 ? (uint32_t)id : 0;
}
