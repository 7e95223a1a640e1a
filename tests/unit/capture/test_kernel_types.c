// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/kernel_types: types found by name, fields of the reduced copy, and damaged
 * files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/kernel/kernel_types.h"

struct fixture {
	struct btf *kernel; /* as libbpf writes it */
	const void *data;
	uint32_t size;
	int task, request, function, tracepoint, numbers, colour;
};

/*
 * struct inner { const u64 *next; volatile my_int flags : 3, rest : 29; };
 * struct task { u64 id; union { u64 a; my_int b; }; struct inner in[4]; struct task *parent; enum
 * colour colour; };
 */
static void set_up(struct fixture *fixture)
{
	struct btf *btf = btf__new_empty();
	int u64, s32, my_int, mutable, constant, pointer, inner, anonymous, many, task_pointer,
		proto;

	assert_non_null(btf);
	fixture->kernel = btf;
	u64 = btf__add_int(btf, "u64", 8, 0);
	s32 = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	my_int = btf__add_typedef(btf, "my_int", s32);
	mutable = btf__add_volatile(btf, my_int);
	constant = btf__add_const(btf, u64);
	pointer = btf__add_ptr(btf, constant);
	inner = btf__add_struct(btf, "inner", 16);
	assert_int_equal(btf__add_field(btf, "next", pointer, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "flags", mutable, 64, 3), 0);
	assert_int_equal(btf__add_field(btf, "rest", mutable, 67, 29), 0);
	anonymous = btf__add_union(btf, NULL, 8);
	assert_int_equal(btf__add_field(btf, "a", u64, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "b", my_int, 0, 0), 0);
	many = btf__add_array(btf, s32, inner, 4);
	fixture->colour = btf__add_enum(btf, "colour", 4);
	assert_int_equal(btf__add_enum_value(btf, "RED", 1), 0);
	assert_int_equal(btf__add_enum_value(btf, "BLUE", 0xfffffff0), 0);
	fixture->numbers = btf__add_enum64(btf, "numbers", 8, true);
	assert_int_equal(btf__add_enum64_value(btf, "LOW", (uint64_t)-5), 0);
	assert_int_equal(btf__add_enum64_value(btf, "HIGH", 1ULL << 40), 0);
	task_pointer = btf__add_ptr(btf, btf__type_cnt(btf) + 1); /* the structure that follows */
	fixture->task = btf__add_struct(btf, "task", 96);
	assert_int_equal(fixture->task, task_pointer + 1);
	assert_int_equal(btf__add_field(btf, "id", u64, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, NULL, anonymous, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "in", many, 128, 0), 0);
	assert_int_equal(btf__add_field(btf, "parent", task_pointer, 640, 0), 0);
	assert_int_equal(btf__add_field(btf, "colour", fixture->colour, 704, 0), 0);
	/* Enough others that types are found beyond the first mark. */
	for (int i = 0; i < 100; i++) {
		char name[32];

		snprintf(name, sizeof(name), "other_%d", i);
		assert_true(btf__add_struct(btf, name, 8) > 0);
		assert_int_equal(btf__add_field(btf, "x", u64, 0, 0), 0);
	}
	proto = btf__add_func_proto(btf, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(btf__add_func_param(btf, "argument", u64), 0);
	fixture->function = btf__add_func(btf, "task", BTF_FUNC_GLOBAL, proto);
	fixture->tracepoint = btf__add_typedef(btf, "btf_trace_wake", btf__add_ptr(btf, proto));
	fixture->request = btf__add_struct(btf, "rq", 8);
	assert_int_equal(btf__add_field(btf, "x", u64, 0, 0), 0);
	fixture->data = btf__raw_data(btf, &fixture->size);
	assert_non_null(fixture->data);
}

static void tear_down(struct fixture *fixture)
{
	btf__free(fixture->kernel);
}

static int read_bytes(struct kernel_types *types, const void *data, size_t size,
		      struct error *error)
{
	int fd = memfd_create("types", MFD_CLOEXEC), err;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = kernel_types_read(types, path, error);
	close(fd);
	return err;
}

static struct kernel_types *read_types(const void *data, size_t size, int expected)
{
	static const char *const names[] = {"task",    "rq",	 "btf_trace_wake",
					    "numbers", "absent", "x"};
	struct kernel_types *types = kernel_types_new();
	struct error error;
	int err;

	assert_non_null(types);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(kernel_types_want(types, names[i]), 0);
	err = read_bytes(types, data, size, &error);
	assert_int_equal(err, expected);
	if (!err)
		return types;
	assert_non_null(strstr(error.text, "BTF"));
	kernel_types_free(types);
	return NULL;
}

static void finds_types_by_kind_and_name(void **state)
{
	struct fixture fixture;
	struct kernel_types *types;

	set_up(&fixture);
	types = read_types(fixture.data, fixture.size, 0);
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "task"), fixture.task);
	assert_int_equal(kernel_types_find(types, BTF_KIND_FUNC, "task"), fixture.function);
	assert_int_equal(kernel_types_find(types, BTF_KIND_UNION, "task"), 0);
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "rq"), fixture.request);
	assert_int_equal(kernel_types_find(types, BTF_KIND_ENUM64, "numbers"), fixture.numbers);
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "absent"), 0);
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "inner"),
			 0); /* nobody wanted it */
	assert_int_equal(kernel_types_find(types, BTF_KIND_TYPEDEF, "btf_trace_wake"),
			 fixture.tracepoint);
	assert_int_equal(kernel_types_tracepoint_arguments(types, "wake"), 3);
	assert_int_equal(kernel_types_tracepoint_arguments(types, "sleep"), 0);
	kernel_types_free(types);
	tear_down(&fixture);
}

static struct btf *reduce(const struct kernel_types *types)
{
	int fd = memfd_create("reduced", MFD_CLOEXEC);
	struct error error;
	struct btf *btf;
	char path[64];

	assert_true(fd >= 0);
	assert_int_equal(kernel_types_write(types, fd, &error), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	btf = btf__parse(path, NULL);
	close(fd);
	assert_non_null(btf);
	return btf;
}

static const struct btf_type *field_of(const struct btf *btf, const struct btf_type *type,
				       const char *name, uint32_t offset, uint32_t bits)
{
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = btf_members(type) + i;

		if (strcmp(btf__name_by_offset(btf, member->name_off), name) != 0)
			continue;
		assert_int_equal(btf_member_bit_offset(type, i), offset);
		assert_int_equal(btf_member_bitfield_size(type, i), bits);
		return btf__type_by_id(btf, member->type);
	}
	fail_msg("no field %s", name);
	return NULL;
}

static void keeps_fields_where_they_are(void **state)
{
	struct fixture fixture;
	struct kernel_types *types;
	const struct btf_type *task, *inner, *field;
	struct btf *reduced;

	set_up(&fixture);
	types = read_types(fixture.data, fixture.size, 0);
	reduced = reduce(types);
	task = btf__type_by_id(reduced,
			       (uint32_t)btf__find_by_name_kind(reduced, "task", BTF_KIND_STRUCT));
	assert_int_equal(task->size, 96);
	assert_int_equal(btf_vlen(task), 5);
	assert_true(btf_is_int(field_of(reduced, task, "id", 0, 0)));
	field = field_of(reduced, task, "", 64, 0);
	assert_true(btf_is_union(field));
	assert_int_equal(field_of(reduced, field, "b", 0, 0)->size, 4); /* without its typedef */
	field = field_of(reduced, task, "in", 128, 0);
	assert_int_equal(btf_array(field)->nelems, 4);
	inner = btf__type_by_id(reduced, btf_array(field)->type);
	assert_int_equal(inner->size, 16);
	assert_true(btf_is_ptr(field_of(reduced, inner, "next", 0, 0)));
	assert_int_equal(btf_int_encoding(field_of(reduced, inner, "flags", 64, 3)),
			 BTF_INT_SIGNED);
	field_of(reduced, inner, "rest", 67, 29);
	field = field_of(reduced, task, "parent", 640, 0);
	assert_true(btf_is_ptr(field) && field->type == 0);
	field = field_of(reduced, task, "colour", 704, 0);
	assert_string_equal(btf__name_by_offset(reduced, btf_enum(field)[1].name_off), "BLUE");
	assert_int_equal((uint32_t)btf_enum(field)[1].val, 0xfffffff0);
	field = btf__type_by_id(
		reduced, (uint32_t)btf__find_by_name_kind(reduced, "numbers", BTF_KIND_ENUM64));
	assert_int_equal(btf_enum64_value(btf_enum64(field)), (uint64_t)-5);
	assert_int_equal(btf_enum64_value(btf_enum64(field) + 1), 1ULL << 40);
	/* Nothing that nobody asked for. */
	assert_true(btf__find_by_name_kind(reduced, "other_1", BTF_KIND_STRUCT) < 0);
	assert_true(btf__find_by_name_kind(reduced, "rq", BTF_KIND_STRUCT) > 0);
	btf__free(reduced);
	kernel_types_free(types);
	tear_down(&fixture);
}

/* The same structure more often, as kernels have some: libbpf has to see that they differ. */
static void keeps_types_of_the_same_name(void **state)
{
	struct kernel_types *types = kernel_types_new();
	struct btf *btf = btf__new_empty(), *reduced;
	struct error error;
	unsigned int found = 0;
	const void *data;
	uint32_t size;

	for (int i = 0; i < 2; i++)
		assert_true(btf__add_struct(btf, "twice", 8 + 8 * (uint32_t)i) > 0);
	data = btf__raw_data(btf, &size);
	assert_int_equal(kernel_types_want(types, "twice"), 0);
	assert_int_equal(read_bytes(types, data, size, &error), 0);
	reduced = reduce(types);
	for (uint32_t i = 1; i < btf__type_cnt(reduced); i++)
		found += btf_is_struct(btf__type_by_id(reduced, i));
	assert_int_equal(found, 2);
	btf__free(reduced);
	btf__free(btf);
	kernel_types_free(types);
}

static void refuses_what_is_no_btf(void **state)
{
	struct fixture fixture;
	struct btf_header header;
	uint8_t *bytes;
	struct btf_type *first;

	set_up(&fixture);
	for (uint32_t size = 1; size < fixture.size; size += size < 64 ? 1 : 61)
		read_types(fixture.data, size, -EINVAL);
	bytes = malloc(fixture.size);
	assert_non_null(bytes);
	memcpy(bytes, fixture.data, fixture.size);
	memcpy(&header, bytes, sizeof(header));
	first = (void *)(bytes + header.hdr_len + header.type_off);
	first->info = 31U << 24; /* a kind of the future */
	read_types(bytes, fixture.size, -ENOTSUP);
	first->info = BTF_KIND_STRUCT << 24 | 0xffff; /* reaches beyond the end */
	read_types(bytes, fixture.size, -EINVAL);
	free(bytes);
	tear_down(&fixture);
}

/* Any byte may be any other: an answer or an error, but nothing outside of the file (sanitizers
 * watch). */
static void survives_damage(void **state)
{
	struct fixture fixture;
	uint8_t *bytes;

	set_up(&fixture);
	bytes = malloc(fixture.size);
	assert_non_null(bytes);
	srand(1);
	for (unsigned int turn = 0; turn < 3000; turn++) {
		struct kernel_types *types = kernel_types_new();
		int fd = memfd_create("reduced", MFD_CLOEXEC);
		struct error error;

		memcpy(bytes, fixture.data, fixture.size);
		for (int i = rand() % 4; i >= 0; i--)
			bytes[(unsigned int)rand() % fixture.size] = (uint8_t)rand();
		assert_int_equal(kernel_types_want(types, "task"), 0);
		assert_int_equal(kernel_types_want(types, "btf_trace_wake"), 0);
		assert_int_equal(kernel_types_want(types, "numbers"), 0);
		if (read_bytes(types, bytes, fixture.size, &error) == 0) {
			kernel_types_tracepoint_arguments(types, "wake");
			kernel_types_write(types, fd, &error);
		}
		close(fd);
		kernel_types_free(types);
	}
	free(bytes);
	tear_down(&fixture);
}

static void says_which_file_cannot_be_read(void **state)
{
	struct kernel_types *types = kernel_types_new();
	struct error error;

	assert_int_equal(kernel_types_read(types, "/no/such/types", &error), -ENOENT);
	assert_non_null(strstr(error.text, "/no/such/types"));
	kernel_types_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_types_by_kind_and_name),
		cmocka_unit_test(keeps_fields_where_they_are),
		cmocka_unit_test(keeps_types_of_the_same_name),
		cmocka_unit_test(refuses_what_is_no_btf),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(says_which_file_cannot_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
