// SPDX-License-Identifier: BSD-2-Clause
/* Reads the running kernel's BTF (Documentation/bpf/btf.rst): one pass over its types, and a
 * reduced copy of some of them. */
#include "capture/kernel/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/hash_map.h"

/* Kernels have about 5 MB of BTF. */
#define MAX_BYTES (256 << 20)
/* Offsets are stored for every 32nd type; a type is found by its number from the stored one
 * before it. */
#define MARK_EVERY 32
/* Bound on nested structures; those of the kernel nest about eight deep. */
#define MAX_DEPTH 64
/* The kernel has twice as many types in all. */
#define MAX_REDUCED 65536

#define BIT(n) (1U << (n))
#define KINDS_WANTED                                                                               \
	(BIT(BTF_KIND_STRUCT) | BIT(BTF_KIND_UNION) | BIT(BTF_KIND_ENUM) | BIT(BTF_KIND_ENUM64) |  \
	 BIT(BTF_KIND_TYPEDEF) | BIT(BTF_KIND_FUNC))
#define KINDS_REDUCED                                                                              \
	(BIT(BTF_KIND_STRUCT) | BIT(BTF_KIND_UNION) | BIT(BTF_KIND_ENUM) | BIT(BTF_KIND_ENUM64))

struct found_type {
	uint32_t number;
	const struct btf_type *type;
};

struct kernel_types {
	void *bytes; /* the file, mapped or read */
	size_t size;
	bool is_mapped;
	const uint8_t *types;
	const char *strings; /* ends with a NUL */
	uint32_t types_size, strings_size, count;
	ARRAY_OF(char *) wanted; /* sorted before the lookup */
	ARRAY_OF(struct found_type) found;
	ARRAY_OF(uint32_t) marks; /* offsets of types 1, 33, 65, … */
};

struct kernel_types *kernel_types_new(void)
{
	return calloc(1, sizeof(struct kernel_types));
}

void kernel_types_free(struct kernel_types *types)
{
	if (!types)
		return;
	array_foreach(&types->wanted, name)
		free(*name);
	array_free(&types->wanted);
	array_free(&types->found);
	array_free(&types->marks);
	if (types->is_mapped)
		munmap(types->bytes, types->size);
	else
		free(types->bytes);
	free(types);
}

int kernel_types_want(struct kernel_types *types, const char *name)
{
	char **wanted = array_add(&types->wanted);

	if (!wanted)
		return -ENOMEM;
	*wanted = strdup(name);
	if (*wanted)
		return 0;
	types->wanted.count--;
	return -ENOMEM;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* sysfs returns one page per read; since 6.16, mmap() maps the kernel's own pages. */
static int read_file(struct kernel_types *types, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	size_t got = 0;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (status.st_size <= 0 || status.st_size > MAX_BYTES)
		return -EINVAL;
	types->size = (size_t)status.st_size;
	types->bytes = mmap(NULL, types->size, PROT_READ, MAP_PRIVATE, fd, 0);
	types->is_mapped = types->bytes != MAP_FAILED;
	if (types->is_mapped)
		return 0;
	types->bytes = malloc(types->size);
	if (!types->bytes)
		return -ENOMEM;
	while (got < types->size) {
		ssize_t more = read(fd, (char *)types->bytes + got, types->size - got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return more ? -errno : -EINVAL;
		got += (size_t)more;
	}
	return 0;
}

static int find_sections(struct kernel_types *types)
{
	const struct btf_header *header = types->bytes;
	uint64_t types_at, strings_at;

	if (types->size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->version != BTF_VERSION)
		return -EINVAL;
	types_at = (uint64_t)header->hdr_len + header->type_off;
	strings_at = (uint64_t)header->hdr_len + header->str_off;
	if (types_at % 4 || types_at + header->type_len > types->size ||
	    strings_at + header->str_len > types->size || !header->str_len)
		return -EINVAL;
	types->types = (const uint8_t *)types->bytes + types_at;
	types->types_size = header->type_len;
	types->strings = (const char *)types->bytes + strings_at;
	types->strings_size = header->str_len;
	return types->strings[types->strings_size - 1] ? -EINVAL : 0;
}

/* Bytes of a type of each kind: fixed part, and per member. */
static const struct {
	uint8_t fixed, each;
} kind_sizes[] = {
	[BTF_KIND_INT] = {sizeof(struct btf_type) + sizeof(uint32_t), 0},
	[BTF_KIND_PTR] = {sizeof(struct btf_type), 0},
	[BTF_KIND_ARRAY] = {sizeof(struct btf_type) + sizeof(struct btf_array), 0},
	[BTF_KIND_STRUCT] = {sizeof(struct btf_type), sizeof(struct btf_member)},
	[BTF_KIND_UNION] = {sizeof(struct btf_type), sizeof(struct btf_member)},
	[BTF_KIND_ENUM] = {sizeof(struct btf_type), sizeof(struct btf_enum)},
	[BTF_KIND_FWD] = {sizeof(struct btf_type), 0},
	[BTF_KIND_TYPEDEF] = {sizeof(struct btf_type), 0},
	[BTF_KIND_VOLATILE] = {sizeof(struct btf_type), 0},
	[BTF_KIND_CONST] = {sizeof(struct btf_type), 0},
	[BTF_KIND_RESTRICT] = {sizeof(struct btf_type), 0},
	[BTF_KIND_FUNC] = {sizeof(struct btf_type), 0},
	[BTF_KIND_FUNC_PROTO] = {sizeof(struct btf_type), sizeof(struct btf_param)},
	[BTF_KIND_VAR] = {sizeof(struct btf_type) + sizeof(struct btf_var), 0},
	[BTF_KIND_DATASEC] = {sizeof(struct btf_type), sizeof(struct btf_var_secinfo)},
	[BTF_KIND_FLOAT] = {sizeof(struct btf_type), 0},
	[BTF_KIND_DECL_TAG] = {sizeof(struct btf_type) + sizeof(struct btf_decl_tag), 0},
	[BTF_KIND_TYPE_TAG] = {sizeof(struct btf_type), 0},
	[BTF_KIND_ENUM64] = {sizeof(struct btf_type), sizeof(struct btf_enum64)},
};

/* Size of a type in bytes; 0: unknown kind. */
static uint32_t type_size(const struct btf_type *type)
{
	uint16_t kind = btf_kind(type);

	return kind < ARRAY_SIZE(kind_sizes)
		       ? kind_sizes[kind].fixed + btf_vlen(type) * kind_sizes[kind].each
		       : 0;
}

static const char *name_at(const struct kernel_types *types, uint32_t offset)
{
	return offset < types->strings_size ? types->strings + offset : "";
}

/* The first four bytes of a name rule out most of a hundred thousand names. */
struct name_filter {
	uint64_t bits[64];
};

static uint32_t filter_bit(const char *name)
{
	uint32_t word = 0;

	for (unsigned int i = 0; i < 4 && name[i]; i++)
		word |= (uint32_t)(uint8_t)name[i] << 8 * i;
	return word * 2654435761U >> 20;
}

static void filter_add(struct name_filter *filter, const char *name)
{
	uint32_t bit = filter_bit(name);

	filter->bits[bit / 64] |= 1ULL << bit % 64;
}

static bool filter_passes(const struct name_filter *filter, const char *name)
{
	uint32_t bit = filter_bit(name);

	return filter->bits[bit / 64] >> bit % 64 & 1;
}

static bool is_wanted(const struct kernel_types *types, const struct name_filter *filter,
		      const struct btf_type *type)
{
	const char *name = name_at(types, type->name_off);

	return BIT(btf_kind(type)) & KINDS_WANTED && filter_passes(filter, name) &&
	       bsearch(&name, types->wanted.items, types->wanted.count, sizeof(name),
		       compare_names);
}

static int note_type(struct kernel_types *types, uint32_t place, const struct name_filter *filter)
{
	const struct btf_type *type = (const void *)(types->types + place);
	uint32_t *mark;
	struct found_type *found;

	types->count++;
	if (types->count % MARK_EVERY == 1) {
		mark = array_add(&types->marks);
		if (!mark)
			return -ENOMEM;
		*mark = place;
	}
	if (!is_wanted(types, filter, type))
		return 0;
	found = array_add(&types->found);
	if (!found)
		return -ENOMEM;
	*found = (struct found_type){types->count, type};
	return 0;
}

static int find_wanted(struct kernel_types *types)
{
	struct name_filter filter = {0};

	if (types->wanted.count)
		qsort(types->wanted.items, types->wanted.count, sizeof(*types->wanted.items),
		      compare_names);
	array_foreach(&types->wanted, name)
		filter_add(&filter, *name);
	for (uint32_t place = 0; place < types->types_size;) {
		uint32_t left = types->types_size - place, size;
		int err;

		if (left < sizeof(struct btf_type))
			return -EINVAL;
		size = type_size((const void *)(types->types + place));
		if (!size)
			return -ENOTSUP;
		if (size > left)
			return -EINVAL;
		err = note_type(types, place, &filter);
		if (err)
			return err;
		place += size;
	}
	return 0;
}

int kernel_types_read(struct kernel_types *types, const char *path, struct error *error)
{
	int err = read_file(types, path);

	err = err ? err : find_sections(types);
	err = err ? err : find_wanted(types);
	if (err == -EINVAL)
		return error_set(error, EINVAL,
				 "cannot parse the kernel's BTF in %s: damaged, or of another byte "
				 "order; use a kernel whose BTF bpftool can read",
				 path);
	if (err == -ENOTSUP)
		return error_set(error, ENOTSUP,
				 "cannot parse the kernel's BTF in %s: newer than this program; "
				 "use a newer pkbpf",
				 path);
	return err ? error_set(error, -err, "cannot read the kernel's types from %s: %s", path,
			       strerror(-err))
		   : 0;
}

uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name)
{
	array_foreach(&types->found, found) {
		if (btf_kind(found->type) == kind &&
		    strcmp(name_at(types, found->type->name_off), name) == 0)
			return found->number;
	}
	return 0;
}

/* NULL: void, or no such type. */
static const struct btf_type *type_by_number(const struct kernel_types *types, uint32_t number)
{
	uint32_t place;

	if (!number || number > types->count)
		return NULL;
	place = types->marks.items[(number - 1) / MARK_EVERY];
	for (uint32_t i = 0; i < (number - 1) % MARK_EVERY; i++)
		place += type_size((const void *)(types->types + place));
	return (const void *)(types->types + place);
}

uint32_t kernel_types_tracepoint_arguments(const struct kernel_types *types, const char *tracepoint)
{
	const struct btf_type *type;
	char name[128];

	/* typedef void (*btf_trace_NAME)(void *, …) */
	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	type = type_by_number(types, kernel_types_find(types, BTF_KIND_TYPEDEF, name));
	type = type ? type_by_number(types, type->type) : NULL;
	if (type && btf_is_ptr(type))
		type = type_by_number(types, type->type);
	return type && btf_is_func_proto(type) ? btf_vlen(type) : 0;
}

struct reduction {
	const struct kernel_types *types;
	struct btf *out;
	struct hash_map numbers; /* type number in the kernel's BTF -> in the copy */
	int pointer;		 /* type number of void * */
};

static int reduce(struct reduction *reduction, uint32_t number, unsigned int depth);

/* The number of a type that is already in the copy. */
static int reduced_number(const struct reduction *reduction, uint32_t number)
{
	const uint64_t *known = hash_map_find(&reduction->numbers, number);

	return known ? (int)*known : 0;
}

static int reduce_array(struct reduction *reduction, const struct btf_type *type,
			unsigned int depth)
{
	const struct btf_array *array = btf_array(type);
	int element = reduce(reduction, array->type, depth),
	    index = reduce(reduction, array->index_type, depth);

	return element < 0 ? element
	       : index < 0 ? index
			   : btf__add_array(reduction->out, index, element, array->nelems);
}

/* The fields follow the structure immediately, so their types are written first. */
static int reduce_structure(struct reduction *reduction, const struct btf_type *type,
			    unsigned int depth)
{
	const char *name = name_at(reduction->types, type->name_off);
	const struct btf_member *members = btf_members(type);
	int number;

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		number = reduce(reduction, members[i].type, depth);
		if (number < 0)
			return number;
	}
	number = btf_is_struct(type) ? btf__add_struct(reduction->out, name, type->size)
				     : btf__add_union(reduction->out, name, type->size);
	for (uint32_t i = 0; i < btf_vlen(type) && number > 0; i++) {
		int err = btf__add_field(
			reduction->out, name_at(reduction->types, members[i].name_off),
			reduced_number(reduction, members[i].type), btf_member_bit_offset(type, i),
			btf_member_bitfield_size(type, i));

		if (err)
			return err;
	}
	return number;
}

static int reduce_enumeration(struct reduction *reduction, const struct btf_type *type)
{
	const char *name = name_at(reduction->types, type->name_off);
	bool is_signed = btf_kflag(type), is_long = btf_kind(type) == BTF_KIND_ENUM64;
	int err, number = is_long ? btf__add_enum64(reduction->out, name, type->size, is_signed)
				  : btf__add_enum(reduction->out, name, type->size);

	for (uint32_t i = 0; i < btf_vlen(type) && number > 0; i++) {
		if (is_long) {
			const struct btf_enum64 *value = btf_enum64(type) + i;

			err = btf__add_enum64_value(reduction->out,
						    name_at(reduction->types, value->name_off),
						    btf_enum64_value(value));
		} else {
			const struct btf_enum *value = btf_enum(type) + i;

			err = btf__add_enum_value(
				reduction->out, name_at(reduction->types, value->name_off),
				is_signed ? value->val : (int64_t)(uint32_t)value->val);
		}
		if (err)
			return err;
	}
	return number;
}

static int copy_type(struct reduction *reduction, const struct btf_type *type, unsigned int depth)
{
	const char *name = name_at(reduction->types, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return btf__add_int(reduction->out, name, type->size, btf_int_encoding(type));
	case BTF_KIND_FLOAT:
		return btf__add_float(reduction->out, name, type->size);
	case BTF_KIND_FWD:
		return btf__add_fwd(reduction->out, name,
				    btf_kflag(type) ? BTF_FWD_UNION : BTF_FWD_STRUCT);
	case BTF_KIND_ARRAY:
		return reduce_array(reduction, type, depth + 1);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return reduce_structure(reduction, type, depth + 1);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return reduce_enumeration(reduction, type);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return reduce(reduction, type->type, depth + 1);
	default:
		return reduction->pointer;
	}
}

/* Returns the type's number in the copy, 0 for void, or negative errno. */
static int reduce(struct reduction *reduction, uint32_t number, unsigned int depth)
{
	const struct btf_type *type = type_by_number(reduction->types, number);
	int reduced;

	if (!number)
		return 0;
	if (!type || depth > MAX_DEPTH || reduction->numbers.count >= MAX_REDUCED)
		return -EINVAL;
	reduced = reduced_number(reduction, number);
	if (reduced)
		return reduced;
	reduced = copy_type(reduction, type, depth);
	if (reduced > 0 && !hash_map_put(&reduction->numbers, number, (uint64_t)reduced))
		return -ENOMEM;
	return reduced;
}

static int reduce_found(struct reduction *reduction)
{
	reduction->pointer = btf__add_ptr(reduction->out, 0);
	if (reduction->pointer < 0)
		return reduction->pointer;
	array_foreach(&reduction->types->found, found) {
		int number = BIT(btf_kind(found->type)) & KINDS_REDUCED
				     ? reduce(reduction, found->number, 0)
				     : 0;

		if (number < 0)
			return number;
	}
	return 0;
}

int kernel_types_write(const struct kernel_types *types, int fd, struct error *error)
{
	struct reduction reduction = {.types = types, .out = btf__new_empty()};
	uint32_t size;
	const void *data;
	int err = reduction.out ? reduce_found(&reduction) : -ENOMEM;

	if (!err) {
		data = btf__raw_data(reduction.out, &size);
		err = data ? file_write_all(fd, data, size) : -ENOMEM;
	}
	btf__free(reduction.out);
	hash_map_done(&reduction.numbers);
	return err ? error_set(error, -err,
			       "cannot copy the kernel's types that BPF programs read: %s",
			       strerror(-err))
		   : 0;
}
