// SPDX-License-Identifier: BSD-2-Clause
/* Prepares the BPF object for what a session wants, and loads it. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "capture/kernel_namer.h"
#include "capture/libbpf_log.h"
#include "capture/session_private.h"

#include "pkbpf.skel.h"

/* Followed processes at one time; 64 bytes of kernel memory each, taken at load. */
#define MAX_FOLLOWED 65536

/* Room for a good second of samples at ordinary depths (about 500 bytes), so that a reader that was held up
 * loses nothing; a power of two as the kernel demands. */
static uint64_t choose_ring_bytes(const struct session *session)
{
	uint64_t wanted = session->options.ring_bytes, bytes = 1 << 20;

	if (!wanted)
		wanted = cpu_watch_list(session->cpus)->count * (session->options.frequency_hz + 1ULL) * 512;
	while (bytes < wanted && bytes < (64 << 20))
		bytes <<= 1;
	return bytes;
}

int session_configure_object(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	struct pkbpf_bpf *skeleton = session->skeleton;
	uint64_t ring_bytes = choose_ring_bytes(session);
	bool follow = options->follow != PKBPF_FOLLOW_NONE;
	uint32_t pid_slots = follow && options->pid_count ? MAX_FOLLOWED : (uint32_t)options->pid_count;
	int err;

	if (pid_slots < options->pid_count)
		pid_slots = (uint32_t)options->pid_count;
	err = bpf_map__set_max_entries(skeleton->maps.sample_ring, (uint32_t)ring_bytes);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.target_pids, pid_slots ? pid_slots : 1);
	err = err ? err : bpf_map__set_max_entries(skeleton->maps.target_tids, options->tid_count ? (uint32_t)options->tid_count : 1);
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
	};
	if (options->comm)
		strncpy((char *)skeleton->rodata->config.comm, options->comm, sizeof(skeleton->rodata->config.comm) - 1);
	/* Programs of the sources are not loaded unless their source says so (SEC("?…")). */
	kernel_namer_configure(skeleton, options->want_kernel_stack);
	bpf_program__set_autoload(skeleton->progs.follow_fork, follow && options->pid_count);
	bpf_program__set_autoload(skeleton->progs.leave_on_exec,
				  options->follow == PKBPF_FOLLOW_WORKERS && options->pid_count);
	bpf_program__set_autoload(skeleton->progs.forget_exited,
				  options->target_mode == PKBPF_TARGET_PROCESS || options->target_mode == PKBPF_TARGET_THREAD);
	return 0;
}

/* Reading them takes 12 ms, so once for all who ask. libbpf reads them again: it takes none from others. */
const struct btf *session_kernel_types(struct session *session)
{
	if (!session->kernel_types)
		session->kernel_types = btf__load_vmlinux_btf();
	return session->kernel_types;
}

void session_forget_kernel_types(struct session *session)
{
	btf__free(session->kernel_types);
	session->kernel_types = NULL;
}

static int explain_load_failure(int err, struct error *error)
{
	char program[64], reason[512];

	libbpf_log_failure(program, sizeof(program), reason, sizeof(reason));
	if (err == -EPERM)
		return error_set(error, EPERM,
				 "cannot load BPF program %s: %s; run as root, and check that neither kernel lockdown nor a security "
				 "policy forbids BPF", program[0] ? program : "(unknown)", strerror(-err));
	return error_set(error, -err,
			 "cannot load BPF program %s: %s%s%s; Linux 5.10 or newer is needed, run 'pkbpf doctor' for what this "
			 "kernel lacks, or again with -vv for the verifier's log",
			 program[0] ? program : "(unknown)", strerror(-err), reason[0] ? ": " : "", reason);
}

int session_load(struct session *session, struct error *error)
{
	int err;

	if (session->options.target_mode == PKBPF_TARGET_CGROUP) {
		session->cgroup_fd = open(session->options.cgroup_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (session->cgroup_fd < 0)
			return error_set(error, errno, "cannot open cgroup %s: %s; give the path of its folder",
					 session->options.cgroup_path, strerror(errno));
	}
	session_forget_kernel_types(session);
	err = pkbpf_bpf__load(session->skeleton);
	if (err)
		return explain_load_failure(err, error);
	return session_fill_targets(session, error);
}
