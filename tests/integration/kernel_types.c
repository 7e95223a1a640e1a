// SPDX-License-Identifier: BSD-2-Clause
/* Compares what we read of the running kernel's types, and the copy that BPF programs are relocated
 * by, with libbpf's reading. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pkbpf/config.h>
#include <pkbpf/orc.h>

#include "capture/kernel/kernel_types.h"
#include "capture/tracing_program.h"

#include "pkbpf.skel.h"

#define SKIPPED 77

struct compared {
	struct btf *kernel, *copy;
	unsigned int types, fields, failures;
};

static const struct btf_type *plain(const struct btf *btf, uint32_t number)
{
	const struct btf_type *type = btf__type_by_id(btf, number);

	while (btf_is_mod(type) || btf_is_typedef(type) || btf_is_type_tag(type))
		type = btf__type_by_id(btf, type->type);
	return type;
}

static bool same_name(const struct compared *compared, uint32_t kernel_name, uint32_t copy_name)
{
	return strcmp(btf__name_by_offset(compared->kernel, kernel_name),
		      btf__name_by_offset(compared->copy, copy_name)) == 0;
}

static bool same(const struct compared *compared, const struct btf_type *kernel,
		 const struct btf_type *copy)
{
	if (btf_kind(kernel) != btf_kind(copy))
		return false;
	if (btf_is_ptr(kernel))
		return true;
	if (btf_is_array(kernel))
		return btf_array(kernel)->nelems == btf_array(copy)->nelems &&
		       same(compared, plain(compared->kernel, btf_array(kernel)->type),
			    plain(compared->copy, btf_array(copy)->type));
	if (kernel->size != copy->size || btf_vlen(kernel) != btf_vlen(copy) ||
	    !same_name(compared, kernel->name_off, copy->name_off))
		return false;
	if (btf_is_int(kernel))
		return btf_int_encoding(kernel) == btf_int_encoding(copy);
	for (uint32_t i = 0; i < btf_vlen(kernel); i++) {
		if (btf_is_enum(kernel) && (!same_name(compared, btf_enum(kernel)[i].name_off,
						       btf_enum(copy)[i].name_off) ||
					    btf_enum(kernel)[i].val != btf_enum(copy)[i].val))
			return false;
		if (btf_is_enum64(kernel) && (!same_name(compared, btf_enum64(kernel)[i].name_off,
							 btf_enum64(copy)[i].name_off) ||
					      btf_enum64_value(btf_enum64(kernel) + i) !=
						      btf_enum64_value(btf_enum64(copy) + i)))
			return false;
		if (btf_is_composite(kernel) &&
		    (!same_name(compared, btf_members(kernel)[i].name_off,
				btf_members(copy)[i].name_off) ||
		     btf_member_bit_offset(kernel, i) != btf_member_bit_offset(copy, i) ||
		     btf_member_bitfield_size(kernel, i) != btf_member_bitfield_size(copy, i) ||
		     !same(compared, plain(compared->kernel, btf_members(kernel)[i].type),
			   plain(compared->copy, btf_members(copy)[i].type))))
			return false;
	}
	return true;
}

/* Of several types of one name the one that is meant. */
static bool is_in_kernel(const struct compared *compared, const struct btf_type *copy)
{
	for (uint32_t i = 1; i < btf__type_cnt(compared->kernel); i++) {
		const struct btf_type *kernel = btf__type_by_id(compared->kernel, i);

		if (btf_kind(kernel) == btf_kind(copy) &&
		    same_name(compared, kernel->name_off, copy->name_off) &&
		    same(compared, kernel, copy))
			return true;
	}
	return false;
}

static void compare_copy(struct compared *compared)
{
	for (uint32_t i = 1; i < btf__type_cnt(compared->copy); i++) {
		const struct btf_type *type = btf__type_by_id(compared->copy, i);

		if (!btf_is_composite(type) && !btf_is_any_enum(type))
			continue;
		compared->types++;
		compared->fields += btf_vlen(type);
		if (is_in_kernel(compared, type))
			continue;
		compared->failures++;
		printf("differs: %s\n", btf__name_by_offset(compared->copy, type->name_off));
	}
}

static void compare_number(struct compared *compared, const struct kernel_types *types,
			   uint32_t kind, const char *name)
{
	int expected = btf__find_by_name_kind(compared->kernel, name, kind);
	uint32_t number = kernel_types_find(types, kind, name);

	if (number == (expected > 0 ? (uint32_t)expected : 0))
		return;
	compared->failures++;
	printf("%s is %u, and for libbpf %d\n", name, number, expected);
}

int main(void)
{
	struct compared compared = {.kernel = btf__load_vmlinux_btf()};
	struct kernel_types *types = kernel_types_new();
	struct pkbpf_bpf *skeleton;
	int fd = memfd_create("types", MFD_CLOEXEC);
	struct error error;
	char path[64];

	if (!compared.kernel) {
		printf("skipped: this kernel has no BTF\n");
		return SKIPPED;
	}
	tracing_programs_register();
	skeleton = pkbpf_bpf__open();
	if (!skeleton || !types || fd < 0 || tracing_programs_want(skeleton->obj, types) ||
	    kernel_types_read(types, KERNEL_TYPES_PATH, &error) ||
	    kernel_types_write(types, fd, &error)) {
		printf("cannot read the kernel's types\n");
		return 1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	compared.copy = btf__parse(path, NULL);
	if (!compared.copy) {
		printf("libbpf cannot read the copy\n");
		return 1;
	}
	compare_copy(&compared);
	compare_number(&compared, types, BTF_KIND_TYPEDEF, "btf_trace_sched_switch");
	compare_number(&compared, types, BTF_KIND_TYPEDEF, "btf_trace_sched_process_exit");
	compare_number(&compared, types, BTF_KIND_FUNC, "bpf_iter_task");
	compare_number(&compared, types, BTF_KIND_FUNC, "bpf_rdonly_cast");
	compare_number(&compared, types, BTF_KIND_STRUCT, "task_struct");
	printf("%u types with %u fields, %u differ\n", compared.types, compared.fields,
	       compared.failures);
	if (compared.types < 100 || compared.fields < 500) {
		printf("too few to be all that our programs read\n");
		compared.failures++;
	}
	btf__free(compared.copy);
	btf__free(compared.kernel);
	kernel_types_free(types);
	pkbpf_bpf__destroy(skeleton);
	close(fd);
	return compared.failures ? 1 : 0;
}
