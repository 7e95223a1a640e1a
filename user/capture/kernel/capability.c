// SPDX-License-Identifier: BSD-2-Clause
/* Probes for capabilities of this kernel and user, each with a remedy when it is missing. */
#include "capture/kernel/capability.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "capture/kernel/bpf_refusal.h"
#include "capture/kernel/capability_numbers.h"
#include "capture/kernel/namespace.h"
#include "capture/kernel/kernel_types.h"
#include "capture/perf_event.h"
#include "gpu/gpu_found.h"
#include "gpu/gpu_libraries.h"
#include "machine/energy.h"
#include "machine/frequency.h"
#include "machine/temperature.h"
#include "process/cgroup/cgroup.h"

/* Inodes of the initial namespaces: include/linux/proc_ns.h, part of the ABI since 3.8. */
#define INITIAL_CGROUP_NAMESPACE 0xEFFFFFFBU
#define INITIAL_PID_NAMESPACE	 0xEFFFFFFCU

static bool have_capability(cap_t caps, cap_value_t value)
{
	cap_flag_value_t flag = CAP_CLEAR;

	return caps && cap_get_flag(caps, value, CAP_EFFECTIVE, &flag) == 0 && flag == CAP_SET;
}

static bool probe_privileged(struct error *error)
{
	cap_t caps = cap_get_proc();
	bool all = have_capability(caps, CAP_SYS_ADMIN) ||
		   (have_capability(caps, CAP_BPF) && have_capability(caps, CAP_PERFMON));

	if (caps)
		cap_free(caps);
	if (!all)
		error_set(error, EPERM,
			  "BPF programs and system-wide perf events require "
			  "root; run with sudo, or grant CAP_BPF and CAP_PERFMON");
	return all;
}

static bool is_forbidden(int errnum)
{
	return errnum == EPERM || errnum == EACCES;
}

static bool probe_kernel_btf(struct error *error)
{
	if (access(KERNEL_TYPES_PATH, R_OK) == 0)
		return true;
	if (is_forbidden(errno))
		error_set(error, errno, "cannot read " KERNEL_TYPES_PATH ": %s; run with sudo",
			  strerror(errno));
	else
		error_set(error, ENOTSUP,
			  "no kernel type information: cannot read " KERNEL_TYPES_PATH
			  " (%s); use a kernel with CONFIG_DEBUG_INFO_BTF, as all current "
			  "distributions have",
			  strerror(errno));
	return false;
}

static void explain_ring_buffer(int err, struct error *error)
{
	struct bpf_refusal refusal = bpf_refusal_read("");

	if (err == -EINVAL)
		error_set(error, ENOTSUP,
			  "this kernel has no BPF ring buffer (too old); Linux 5.10 or newer is "
			  "needed");
	else if (err == -ENOSYS && !refusal.is_filtered)
		error_set(error, ENOTSUP,
			  "this kernel lacks CONFIG_BPF_SYSCALL; use another kernel");
	else if (err == -ENOSYS || is_forbidden(-err))
		error_set(error, -err, "cannot create a BPF ring buffer (%s): %s", strerror(-err),
			  bpf_refusal_text(&refusal));
	else
		error_set(error, -err, "cannot create a BPF ring buffer: %s", strerror(-err));
}

static bool probe_ring_buffer(struct error *error)
{
	/* libbpf's probe cannot tell a kernel without ring buffers from a user without
	 * permission. */
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (uint32_t)sysconf(_SC_PAGESIZE),
				NULL);

	if (fd >= 0)
		close(fd);
	else
		explain_ring_buffer(fd, error);
	return fd >= 0;
}

/* Returns 0, or negative errno with the reason. */
static int probe_event(int hardware, struct error *error)
{
	struct perf_event_attr attr;
	int fd;

	perf_event_cpu_attr(99, hardware, &attr);
	attr.disabled = 1;
	fd = perf_event_open_cpu(&attr, 0, error);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool probe_perf_event(struct error *error)
{
	return probe_event(0, error) == 0;
}

static bool probe_hardware_pmu(struct error *error)
{
	int err = probe_event(1, error);

	if (!err)
		return true;
	if (is_forbidden(-err))
		return false;
	error_set(error, ENOENT,
		  "no hardware cycle counter (usual in virtual machines); run on the machine "
		  "itself");
	return false;
}

static bool probe_initial_user_namespace(struct error *error)
{
	if (namespace_is_initial("", "user", NAMESPACE_INITIAL_USER))
		return true;
	error_set(error, EPERM, NAMESPACE_OTHER_USER);
	return false;
}

/* Of all cgroups the root of the hierarchy alone has no such file. */
static bool shows_all_cgroups(void)
{
	struct cgroup_root *root = cgroup_root_open();
	char path[PATH_MAX];
	bool shows_all = root &&
			 (size_t)snprintf(path, sizeof(path), "%s/cgroup.events",
					  cgroup_root_folder(root)) < sizeof(path) &&
			 access(path, F_OK) && errno == ENOENT;

	cgroup_root_close(root);
	return shows_all;
}

static bool probe_initial_cgroup_namespace(struct error *error)
{
	if (namespace_is_initial("", "cgroup", INITIAL_CGROUP_NAMESPACE) || shows_all_cgroups())
		return true;
	error_set(error, ENOTSUP,
		  "in a cgroup namespace: only the cgroups of this container can be seen; run on "
		  "the host, share its namespace (docker run --cgroupns=host), or mount the host's "
		  "/sys/fs/cgroup there (in a pod: a hostPath volume)");
	return false;
}

static bool probe_capability(cap_value_t value)
{
	cap_t caps = cap_get_proc();
	bool has = have_capability(caps, value);

	if (caps)
		cap_free(caps);
	return has;
}

static bool probe_others_memory(struct error *error)
{
	if (probe_capability(CAP_SYS_PTRACE))
		return true;
	error_set(error, EPERM,
		  "CAP_SYS_PTRACE is missing, so mappings and memory of other users' processes "
		  "cannot be read; run with sudo, or grant it");
	return false;
}

static bool probe_others_files(struct error *error)
{
	if (probe_capability(CAP_DAC_READ_SEARCH) || probe_capability(CAP_DAC_OVERRIDE))
		return true;
	error_set(error, EPERM,
		  "CAP_DAC_READ_SEARCH is missing, so programs and container files that only their "
		  "owner may read stay closed; run with sudo, or grant it");
	return false;
}

/* Since 5.11 maps count against the memory cgroup instead. */
static bool probe_map_memory(struct error *error)
{
	struct rlimit limit;

	if (probe_capability(CAP_SYS_RESOURCE) || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return true;
	error_set(error, EPERM,
		  "CAP_SYS_RESOURCE is missing and the limit of locked memory is %llu KiB, which "
		  "is too little for BPF maps before Linux 5.11; run with sudo, grant it, or raise "
		  "the limit (ulimit -l unlimited)",
		  (unsigned long long)limit.rlim_cur >> 10);
	return false;
}

static bool probe_bpf_time(struct error *error)
{
	if (probe_capability(CAP_SYS_ADMIN))
		return true;
	error_set(error, EPERM,
		  "CAP_SYS_ADMIN is missing, so the kernel does not tell how long BPF programs "
		  "run; run with sudo, or grant it");
	return false;
}

static bool probe_initial_pid_namespace(struct error *error)
{
	if (namespace_is_initial("", "pid", INITIAL_PID_NAMESPACE))
		return true;
	if (access("/proc/self/stat", F_OK)) {
		error_set(error, errno, "cannot read /proc/self: %s; mount procfs on /proc",
			  strerror(errno));
		return false;
	}
	error_set(error, ENOTSUP,
		  "not in the initial pid namespace, so pids differ from the kernel's; run on the "
		  "host, or in a container with the pid namespace of the host (docker run "
		  "--pid=host)");
	return false;
}

static bool probe_kernel_symbols(struct error *error)
{
	_cleanup_fclose_ FILE *file = fopen("/proc/kallsyms", "re");
	char line[512];

	if (!file) {
		error_set(error, errno, "cannot read /proc/kallsyms: %s; mount procfs on /proc",
			  strerror(errno));
		return false;
	}
	/* The first symbols are per-CPU ones at address 0 even for root, so the probe reads
	 * further. */
	for (int i = 0; i < 20000 && fgets(line, sizeof(line), file); i++) {
		if (strncmp(line, "0000000000000000", 16) != 0 && strstr(line, " T "))
			return true;
	}
	error_set(error, EACCES,
		  "kernel symbols are hidden; run with sudo or grant CAP_SYSLOG, with sysctl "
		  "kernel.kptr_restrict at 0 or 1");
	return false;
}

static bool probe_kernel_probes(struct error *error)
{
	if (access("/sys/bus/event_source/devices/kprobe/type", R_OK) == 0)
		return true;
	error_set(error, ENOTSUP,
		  "this kernel was built without CONFIG_KPROBES, so its functions cannot be "
		  "probed; use a kernel of a distribution, or --function syscall:NAME for system "
		  "calls");
	return false;
}

static bool probe_whole_proc(struct error *error)
{
	if (access("/proc/stat", R_OK) == 0)
		return true;
	error_set(error, errno, "cannot read /proc/stat: %s; mount /proc without subset=pid",
		  strerror(errno));
	return false;
}

static bool probe_energy(struct error *error)
{
	struct energy_meter meter;

	return energy_meter_open(&meter, "", clock_now_ns(), error);
}

static bool probe_temperature(struct error *error)
{
	struct temperature temperature;

	return temperature_read("", &temperature, error);
}

static bool probe_frequency(struct error *error)
{
	struct frequency frequency;

	return frequency_read("", &frequency, error);
}

static bool probe_gpu(struct error *error)
{
	return gpu_found("", error);
}

/* Programs may bring libraries of their own: none in the usual places is no fault of the kernel. */
static bool probe_gpu_calls(struct error *error)
{
	char text[ERROR_TEXT_SIZE / 2];

#if !defined(__x86_64__)
	error_set(error, ENOTSUP,
		  "registers of calls are known on x86-64 only; use such a machine");
	return false;
#endif
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie, NULL) <= 0) {
		error_set(error, ENOTSUP,
			  "probes cannot tell at which place they are; use Linux 5.15 or newer");
		return false;
	}
	if (gpu_libraries_find("", text, sizeof(text))) {
		error_set(error, 0, "%s", text);
		return true;
	}
	error_set(error, ENOENT,
		  "the kernel is new enough, but libcuda, libcudart and libamdhip64 are in none of "
		  "the usual places; programs that bring their own are watched all the same");
	return false;
}

static const struct capability_ops capabilities[CAPABILITY_COUNT] = {
	[CAPABILITY_PRIVILEGED] = {"privileges", true, probe_privileged, NULL, false},
	[CAPABILITY_KERNEL_BTF] = {"kernel BTF", true, probe_kernel_btf, NULL, false},
	[CAPABILITY_RING_BUFFER] = {"BPF ring buffer", true, probe_ring_buffer, NULL, false},
	[CAPABILITY_PERF_EVENT] = {"perf events", true, probe_perf_event, NULL, false},
	[CAPABILITY_INITIAL_USER_NAMESPACE] = {"initial user namespace", true,
					       probe_initial_user_namespace, NULL, false},
	[CAPABILITY_INITIAL_PID_NAMESPACE] = {"initial pid namespace", true,
					      probe_initial_pid_namespace, NULL, false},
	[CAPABILITY_INITIAL_CGROUP_NAMESPACE] =
		{"initial cgroup namespace", false, probe_initial_cgroup_namespace,
		 "everything but names of other containers and --container for them", false},
	[CAPABILITY_OTHERS_MEMORY] =
		{"processes of other users", false, probe_others_memory,
		 "everything of programs whose files can be opened by their paths; files of "
		 "containers, deleted files, generated code and frames of interpreters only of the "
		 "user's own processes",
		 false},
	[CAPABILITY_OTHERS_FILES] = {"files of other users", false, probe_others_files,
				     "everything but symbols of such programs and names of "
				     "containers kept in such files",
				     false},
	[CAPABILITY_MAP_MEMORY] = {"memory for BPF maps", false, probe_map_memory,
				   "everything on Linux 5.11 or newer", false},
	[CAPABILITY_KERNEL_SYMBOLS] = {"kernel symbols", false, probe_kernel_symbols,
				       "everything; kernel functions are named one by one by a BPF "
				       "program on Linux 5.13 or newer, and unresolved before",
				       false},
	[CAPABILITY_HARDWARE_PMU] = {"hardware PMU", false, probe_hardware_pmu,
				     "everything; a timer (cpu-clock) takes the CPU samples, but "
				     "none while interrupts are off",
				     false},
	[CAPABILITY_KERNEL_PROBES] = {"kernel functions", false, probe_kernel_probes,
				      "everything but --function kernel:NAME; syscall:NAME counts "
				      "system calls",
				      false},
	[CAPABILITY_BPF_TIME] = {"time of BPF programs", false, probe_bpf_time,
				 "everything but the share of BPF programs in the overhead, and "
				 "--max-overhead",
				 false},
	[CAPABILITY_WHOLE_PROC] = {"all of /proc", false, probe_whole_proc,
				   "everything but figures of the whole machine and names of "
				   "kernel functions",
				   false},
	[CAPABILITY_ENERGY] = {"energy", false, probe_energy, "everything but joules in bench",
			       false},
	[CAPABILITY_TEMPERATURE] = {"temperature of CPUs", false, probe_temperature,
				    "everything but degrees and throttling in bench", false},
	[CAPABILITY_FREQUENCY] = {"frequency of CPUs", false, probe_frequency,
				  "everything but the frequency in bench", false},
	[CAPABILITY_GPU] = {"figures of GPUs", false, probe_gpu,
			    "everything but what GPUs do and who uses them", false},
	[CAPABILITY_GPU_CALLS] = {"calls of CUDA and HIP", false, probe_gpu_calls,
				  "everything but --gpu-calls", true},
};

const struct capability_ops *capability_get(enum capability capability)
{
	return &capabilities[capability];
}

int capability_check_required(struct error *error)
{
	for (int i = 0; i < CAPABILITY_COUNT; i++) {
		if (capabilities[i].required && !capabilities[i].probe(error))
			return i == CAPABILITY_PRIVILEGED || i == CAPABILITY_PERF_EVENT ? -EPERM
											: -ENOTSUP;
	}
	return 0;
}
