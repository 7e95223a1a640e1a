// SPDX-License-Identifier: BSD-2-Clause
/* Prepares tracepoint and iterator programs for loading, in place of libbpf. */
#include "capture/tracing_program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "capture/kernel/kernel_types.h"

#define KERNEL_FUNCTION "bpf_rdonly_cast"
#define WORD_TYPE	"timespec64" /* starts with a 64-bit integer */

static const struct attach_kind {
	const char *section, *prefix; /* "tp_btf/NAME" attaches to the BTF type "btf_trace_NAME" */
	uint32_t btf_kind;
	enum bpf_attach_type attach_type;
} attach_kinds[] = {
	{"tp_btf", "btf_trace_", BTF_KIND_TYPEDEF, BPF_TRACE_RAW_TP},
	{"iter", "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER},
	{"fexit", "", BTF_KIND_FUNC, BPF_TRACE_FEXIT}, /* where a function returns */
};

static _Thread_local const struct kernel_types *types_in_use;
static _Thread_local struct {
	void (*on_maps)(void *context);
	void *context;
} waiting; /* callback waiting for the maps */

static const struct attach_kind *kind_of(const struct bpf_program *program, char name[128])
{
	const char *section = bpf_program__section_name(program), *slash = strchr(section, '/');

	for (size_t i = 0; i < ARRAY_SIZE(attach_kinds) && slash; i++) {
		const struct attach_kind *kind = &attach_kinds[i];

		if (strlen(kind->section) != (size_t)(slash - section) ||
		    strncmp(section, kind->section, (size_t)(slash - section)) != 0)
			continue;
		snprintf(name, 128, "%s%s", kind->prefix, slash + 1);
		return kind;
	}
	return NULL;
}

/* Programs call their one kernel function by a bare instruction; libbpf would search the
 * kernel's whole BTF for it. Where the kernel lacks the function, the call is unreachable and is
 * made harmless. */
static int set_kernel_function(struct bpf_program *program)
{
	uint32_t number = kernel_types_find(types_in_use, BTF_KIND_FUNC, KERNEL_FUNCTION);
	const struct bpf_insn *program_code = bpf_program__insns(program);
	size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *code = NULL;
	int err;

	for (size_t i = 0; i < count; i++) {
		const struct bpf_insn *call = &program_code[i];

		if (call->code != (BPF_JMP | BPF_CALL) || call->src_reg != BPF_PSEUDO_KFUNC_CALL ||
		    call->imm)
			continue;
		if (!code) {
			code = malloc(count * sizeof(*code));
			if (!code)
				return -ENOMEM;
			memcpy(code, program_code, count * sizeof(*code));
		}
		if (number)
			code[i].imm = (int32_t)number;
		else
			code[i] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K,
						    .dst_reg = BPF_REG_0};
	}
	err = code ? bpf_program__set_insns(program, code, count) : 0;
	free(code);
	return err;
}

static int prepare_load(struct bpf_program *program, struct bpf_prog_load_opts *options,
			long cookie)
{
	char name[128];
	const struct attach_kind *kind = kind_of(program, name);
	uint32_t number =
		kind && types_in_use ? kernel_types_find(types_in_use, kind->btf_kind, name) : 0;
	int err;

	(void)cookie;
	if (waiting.on_maps)
		waiting.on_maps(waiting.context);
	waiting.on_maps = NULL;
	if (!number)
		return -ESRCH;
	err = set_kernel_function(program);
	if (err)
		return err;
	options->attach_btf_id = number;
	return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

/* Until they are loaded, the programs pass for raw tracepoints, which need no BTF: libbpf asks
 * every program for its type before it relocates the first. */
int tracing_programs_register(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = prepare_load);
	static bool is_registered;

	for (size_t i = 0; i < ARRAY_SIZE(attach_kinds) && !is_registered; i++) {
		char section[32];
		int id;

		snprintf(section, sizeof(section), "%s+", attach_kinds[i].section);
		id = libbpf_register_prog_handler(section, BPF_PROG_TYPE_RAW_TRACEPOINT,
						  attach_kinds[i].attach_type, &options);
		if (id < 0)
			return id;
	}
	is_registered = true;
	return 0;
}

/* A relocation of "type___flavour" refers to the kernel's "type". */
static int want_type(struct kernel_types *types, const char *name)
{
	const char *flavour = strstr(name, "___");
	char plain[128];

	if (!name[0])
		return 0;
	snprintf(plain, sizeof(plain), "%.*s", flavour ? (int)(flavour - name) : (int)strlen(name),
		 name);
	return kernel_types_want(types, plain);
}

int tracing_programs_want(const struct bpf_object *object, struct kernel_types *types)
{
	const struct btf *own = bpf_object__btf(object);
	const struct bpf_program *program = NULL;
	int err = kernel_types_want(types, KERNEL_FUNCTION);

	err = err ? err : kernel_types_want(types, WORD_TYPE);
	for (uint32_t i = 1; own && i < btf__type_cnt(own) && !err; i++) {
		const struct btf_type *type = btf__type_by_id(own, i);

		if (btf_is_composite(type) || btf_is_any_enum(type))
			err = want_type(types, btf__name_by_offset(own, type->name_off));
	}
	while (!err &&
	       (program = bpf_object__next_program(object, (struct bpf_program *)program))) {
		char name[128];

		if (kind_of(program, name))
			err = kernel_types_want(types, name);
	}
	return err;
}

void tracing_programs_use(const struct kernel_types *types, void (*on_maps)(void *context),
			  void *context)
{
	types_in_use = types;
	waiting.on_maps = on_maps;
	waiting.context = context;
}

unsigned int tracing_programs_word(const struct kernel_types *types)
{
	return kernel_types_find(types, BTF_KIND_FUNC, KERNEL_FUNCTION)
		       ? kernel_types_find(types, BTF_KIND_STRUCT, WORD_TYPE)
		       : 0;
}

/* Does the kernel take a program without effect? number: of what it attaches to; 0: not there. */
static bool takes_program(enum bpf_attach_type attach_type, uint32_t number)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
		    .attach_btf_id = number);
	_cleanup_close_ int fd = -1;

	if (number)
		fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "pkbpf_probe", "GPL", nothing,
				   ARRAY_SIZE(nothing), &options);
	return fd >= 0;
}

bool tracing_programs_iterate_maps(const struct kernel_types *types)
{
	return takes_program(BPF_TRACE_ITER,
			     kernel_types_find(types, BTF_KIND_FUNC, "bpf_iter_bpf_map_elem"));
}

bool tracing_programs_trace(const struct kernel_types *types, const char *function)
{
	return takes_program(BPF_TRACE_FEXIT, kernel_types_find(types, BTF_KIND_FUNC, function));
}

const char *tracing_shortage_advice(int errnum)
{
	if (errnum == EMFILE || errnum == ENFILE)
		return "allow more open files (ulimit -n 4096)";
	return errnum == ENOMEM ? "give it more memory (its cgroup's memory.max)" : NULL;
}

/* What the kernel says where its architecture has no trampolines for functions. */
#define KERNEL_ENOTSUPP 524

static int attached(const struct bpf_program *program, const struct bpf_link *link,
		    struct error *error)
{
	int errnum = errno;
	const char *advice = tracing_shortage_advice(errnum);

	if (!link && errnum == KERNEL_ENOTSUPP)
		return error_set(
			error, EOPNOTSUPP,
			"cannot attach BPF program %s: this kernel does not let BPF programs trace "
			"its functions; on arm64 those from 6.4 on do",
			bpf_program__name(program));
	if (!link)
		return error_set(error, errnum, "cannot attach BPF program %s: %s; %s",
				 bpf_program__name(program), strerror(errnum),
				 advice ? advice : "run 'pkbpf doctor' for what this kernel lacks");
	return 0;
}

int tracing_program_attach(const struct bpf_program *program, struct bpf_link **ret_link,
			   struct error *error)
{
	bool is_iterator = bpf_program__expected_attach_type(program) == BPF_TRACE_ITER;

	*ret_link = is_iterator ? bpf_program__attach_iter(program, NULL)
				: bpf_program__attach_trace(program);
	return attached(program, *ret_link, error);
}

int tracing_program_attach_map(const struct bpf_program *program, const struct bpf_map *map,
			       struct bpf_link **ret_link, struct error *error)
{
	union bpf_iter_link_info info;
	struct bpf_iter_attach_opts options;

	/* Clears padding, too: LIBBPF_OPTS() may leave it as it is, and libbpf refuses non-zero
	 * padding. */
	memset(&info, 0, sizeof(info));
	memset(&options, 0, sizeof(options));
	info.map.map_fd = (uint32_t)bpf_map__fd(map);
	options.sz = sizeof(options);
	options.link_info = &info;
	options.link_info_len = sizeof(info);
	*ret_link = bpf_program__attach_iter(program, &options);
	return attached(program, *ret_link, error);
}

int tracing_iterator_run(const struct bpf_link *iterator)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(iterator));
	char nothing[64];
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		got = read(fd, nothing, sizeof(nothing));
	} while (got > 0 || (got < 0 && errno == EINTR));
	return got < 0 ? -errno : 0;
}
