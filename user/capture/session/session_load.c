// SPDX-License-Identifier: BSD-2-Clause
/* Configures the BPF object for a session and loads it. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/kernel/bpf_refusal.h"
#include "capture/kernel/kernel_namer.h"
#include "capture/kernel/kernel_types.h"
#include "capture/kernel/libbpf_log.h"
#include "capture/session/session_private.h"
#include "capture/session/session_unwind.h"
#include "capture/tracing_program.h"

#include "pkbpf.skel.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* include/uapi/linux/memfd.h */
#endif

/* Maximum of followed processes at one time; 80 bytes of kernel memory each, allocated at load
 * before 6.1. */
#define MAX_FOLLOWED 65536

/* Bounds of the raw stacks of one kind that a CPU may copy per second. */
#define LEAST_RAW_STACKS 1000
#define MOST_RAW_STACKS	 10000

/* Exists since any program can allocate elements of the kernel's hash maps (6.1). */
#define ELEMENT_ALLOCATOR "bpf_mem_alloc"

/* Room for a good second of samples of usual depth (about 500 bytes), so that a delayed reader
 * loses nothing. The kernel requires a power of two. */
static uint64_t choose_ring_bytes(const struct session *session)
{
	uint64_t wanted = session->options.ring_bytes, bytes = 1 << 20;

	if (!wanted)
		wanted = cpu_watch_list(session->cpus)->count *
			 (session->options.frequency_hz + 1ULL) * 512;
	while (bytes < wanted && bytes < (64 << 20))
		bytes <<= 1;
	return bytes;
}

/* The sysctl vm.memfd_noexec (6.3) may forbid executable memory files; older kernels know only
 * those. */
static int create_memory_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create(name, MFD_CLOEXEC) : fd;
}

/* libbpf reads the types for relocation from a file, which is filled in before. */
int session_open_object(struct session *session, struct error *error)
{
	LIBBPF_OPTS(bpf_object_open_opts, options);
	char path[64];
	int err = tracing_programs_register();

	if (err)
		return error_set(error, -err, "cannot configure libbpf: %s", strerror(-err));
	session->types_fd = create_memory_file("pkbpf-types");
	if (session->types_fd < 0)
		return error_set(error, errno,
				 "cannot create a file in memory for the kernel's types: %s; check "
				 "the limit of open files "
				 "and the sysctl vm.memfd_noexec",
				 strerror(errno));
	session->kernel_types = kernel_types_new();
	if (!session->kernel_types)
		return error_set(error, ENOMEM, "cannot read the kernel's types: out of memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", session->types_fd);
	options.btf_custom_path = path;
	session->skeleton = pkbpf_bpf__open_opts(&options);
	if (!session->skeleton)
		return error_set(error, errno ? errno : EINVAL, "cannot open the BPF programs: %s",
				 strerror(errno));
	err = tracing_programs_want(session->skeleton->obj, session->kernel_types);
	err = err ? err : kernel_types_want(session->kernel_types, ELEMENT_ALLOCATOR);
	err = err ? err : kernel_types_want(session->kernel_types, KERNEL_TYPE_UPROBE_MULTI);
	err = err ? err : kernel_types_want(session->kernel_types, KERNEL_TYPE_KPROBE_MULTI);
	err = err ? err : kernel_types_want(session->kernel_types, KERNEL_FUNCTION_SOCKET_STORAGE);
	if (err)
		return error_set(error, -err,
				 "cannot list the kernel types that the BPF programs use: %s",
				 strerror(-err));
	return kernel_types_read(session->kernel_types, KERNEL_TYPES_PATH, error);
}

static int allocate_on_demand(struct bpf_map *map)
{
	return bpf_map__set_map_flags(map, bpf_map__map_flags(map) | BPF_F_NO_PREALLOC);
}

/* Most of these elements are never needed; preallocating all of them took a tenth of the
 * start-up time. Before 6.1 the verifier allows perf_event programs only preallocated maps. */
static int allocate_elements_on_demand(const struct session *session)
{
	struct bpf_map *maps[] = {session->skeleton->maps.target_pids,
				  session->skeleton->maps.unwind_processes};
	struct bpf_map *map;
	int err = 0;

	if (!kernel_types_find(session->kernel_types, BTF_KIND_STRUCT, ELEMENT_ALLOCATOR))
		return 0;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !err; i++)
		err = allocate_on_demand(maps[i]);
	/* An event that needs a new element takes longer, by the time of an allocation. */
	bpf_object__for_each_map(map, session->skeleton->obj)
	{
		if (session->options.max_memory_bytes && !err &&
		    bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			err = allocate_on_demand(map);
	}
	return err;
}

/* Programs without any work (bpf/task_lifecycle.bpf.c) are not loaded: they would slow every
 * fork, exec and exit of the host. */
static void choose_lifecycle_programs(const struct session *session)
{
	const struct session_options *options = &session->options;
	struct pkbpf_bpf *skeleton = session->skeleton;
	bool processes = options->target_mode == PKBPF_TARGET_PROCESS,
	     unwound = session_unwinds(options),
	     numbers = processes || options->target_mode == PKBPF_TARGET_THREAD;

	bpf_program__set_autoload(skeleton->progs.task_forked, unwound || numbers);
	bpf_program__set_autoload(skeleton->progs.task_executed,
				  unwound ||
					  (processes && options->follow == PKBPF_FOLLOW_WORKERS));
	bpf_program__set_autoload(skeleton->progs.task_freed, unwound || numbers);
}

/* Unwinding a stack copy costs ten times as much as unwinding in the kernel. A user who requests
 * many samples accepts that: most stacks of short-lived programs are copied. */
static uint32_t raw_stacks_per_second(const struct session_options *options)
{
	uint32_t frequency_hz =
		options->kinds_mask & 1U << PKBPF_PROFILE_CPU ? options->frequency_hz : 0;

	return frequency_hz < LEAST_RAW_STACKS	? LEAST_RAW_STACKS
	       : frequency_hz < MOST_RAW_STACKS ? frequency_hz
						: MOST_RAW_STACKS;
}

int session_configure_object(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	struct pkbpf_bpf *skeleton = session->skeleton;
	uint64_t ring_bytes = choose_ring_bytes(session);
	bool follow = options->follow != PKBPF_FOLLOW_NONE;
	uint32_t pid_slots =
		follow && options->pid_count ? MAX_FOLLOWED : (uint32_t)options->pid_count;
	int err;

	if (pid_slots < options->pid_count)
		pid_slots = (uint32_t)options->pid_count;
	err = bpf_map__set_max_entries(skeleton->maps.sample_ring, (uint32_t)ring_bytes);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.target_pids, pid_slots ? pid_slots : 1);
	err = err ? err
		  : bpf_map__set_max_entries(skeleton->maps.target_tids,
					     options->tid_count ? (uint32_t)options->tid_count : 1);
	err = err ? err : allocate_elements_on_demand(session);
	if (err)
		return error_set(error, -err, "cannot size the BPF maps: %s", strerror(-err));
	skeleton->rodata->config = (struct pkbpf_bpf_config){
		.target_mode = options->target_mode,
		.unwind_mode = options->unwind_mode,
		.follow = options->follow,
		.want_user_stack = options->want_user_stack,
		.want_kernel_stack = options->want_kernel_stack,
		.match_comm = options->comm != NULL,
		.ring_wakeup_bytes = (uint32_t)(ring_bytes / 2),
		/* One eighth of the ring for all CPUs together. */
		.ring_look_bytes =
			(uint32_t)(ring_bytes / 8 / cpu_watch_list(session->cpus)->count),
		.raw_stacks_per_second = raw_stacks_per_second(options),
		.word_type = tracing_programs_word(session->kernel_types),
		.want_python = session_unwinds(options) && options->want_python,
	};
	if (options->comm)
		strncpy((char *)skeleton->rodata->config.comm, options->comm,
			sizeof(skeleton->rodata->config.comm) - 1);
	/* Programs of a source (SEC("?…")) are loaded only when the source requests it. */
	kernel_namer_configure(skeleton, options->want_kernel_stack);
	choose_lifecycle_programs(session);
	return 0;
}

const struct kernel_types *session_kernel_types(const struct session *session)
{
	return session->kernel_types;
}

void session_forget_kernel_types(struct session *session)
{
	kernel_types_free(session->kernel_types);
	session->kernel_types = NULL;
	if (session->types_fd >= 0)
		close(session->types_fd);
	session->types_fd = -1;
}

static int explain_load_failure(int err, struct error *error)
{
	struct bpf_refusal refusal = bpf_refusal_read("");
	char program[64], reason[512];

	libbpf_log_failure(program, sizeof(program), reason, sizeof(reason));
	if (err == -EPERM || (err == -EINVAL && refusal.is_locked))
		return error_set(error, EPERM, "cannot load BPF program %s: %s: %s",
				 program[0] ? program : "(unknown)", strerror(-err),
				 bpf_refusal_text(&refusal));
	if (tracing_shortage_advice(-err))
		return error_set(error, -err, "cannot load BPF programs: %s; %s", strerror(-err),
				 tracing_shortage_advice(-err));
	return error_set(error, -err,
			 "cannot load BPF program %s: %s%s%s; Linux 5.10 or newer is needed, run "
			 "'pkbpf doctor' for what this "
			 "kernel lacks, or again with -vv for the verifier's log",
			 program[0] ? program : "(unknown)", strerror(-err), reason[0] ? ": " : "",
			 reason);
}

static void scout(void *unwind)
{
	session_unwind_scout(unwind);
}

int session_load(struct session *session, struct error *error)
{
	int err = kernel_types_write(session->kernel_types, session->types_fd, error);

	if (err)
		return err;
	tracing_programs_use(session->kernel_types, scout, session->unwind);
	err = pkbpf_bpf__load(session->skeleton);
	tracing_programs_use(NULL, NULL, NULL);
	session_unwind_end_scout(session->unwind);
	session_forget_kernel_types(session);
	if (err)
		return explain_load_failure(err, error);
	return session_fill_targets(session, error);
}
