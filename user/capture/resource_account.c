// SPDX-License-Identifier: BSD-2-Clause
/* Runs the programs of bpf/resource.bpf.c. */
#include "capture/resource_account.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/kernel/cgroup_namer.h"
#include "capture/cpu_list.h"
#include "capture/tracing_program.h"
#include "process/cgroup/cgroup.h"
#include "process/cgroup/cgroup_limits.h"
#include "process/machine_stat.h"

#include "pkbpf.skel.h"

/* The kernel frees a task after an RCU grace period, in batches, on a CPU that may be busy. The
 * wait for exited tasks checks every FREE_STEP_US. It stops when none was freed for
 * FREE_WAIT_US, and at the latest after FREE_MOST_WAIT_US. */
#define FREE_STEP_US	  5000
#define FREE_WAIT_US	  200000
#define FREE_MOST_WAIT_US 1000000
/* A thread's final release goes unseen where programs do not run or the ring was full. The sweep
 * looks for such threads: this often, in this share of the time, this long after their exit. A
 * busy machine frees a thread about 1.2 s after its exit. With many exiting threads the map
 * lacks room to wait that long. Their process must still be known (PROCESS_LATE_NS). */
#define SWEEP_PERIOD_NS	   NS_PER_SECOND
#define SWEEP_RATIO	   200
#define SWEEP_AGE_NS	   (5 * NS_PER_SECOND / 2)
#define SWEEP_CROWD_AGE_NS NS_PER_SECOND
/* Reading takes long beside more runnable threads than CPUs. What was used meanwhile is counted at
 * one end, and is missing at the other. */
#define EDGES_NOTED_NS	 (20 * NS_PER_MS)
#define EDGES_NOTED_PART 50
#define READ_BYTES	 32768 /* of the iterator, per read */
/* At most this many targets have their cgroups checked for limits; the others usually share these
 * cgroups. */
#define LIMITED_PIDS_MAX  1024
#define CGROUP_LIMITS_MAX 4096 /* cgroups; the profile keeps as many */

struct resource_account {
	struct pkbpf_bpf *skeleton;
	struct bpf_link *iterator, *freed;
	struct cgroup_namer *cgroups;			  /* NULL: cgroups get no names */
	struct cgroup_limits *limits[CGROUP_CONTROLLERS]; /* NULL: no hierarchy has it */
	bool has_targets;
	uint64_t begin_ns; /* frees are traced since then */
	uint64_t end_ns;
	uint64_t edges_ns; /* reading threads at the ends */
	uint64_t next_sweep_ns;
	uint64_t unfreed;
	uint32_t exiting; /* number of exiting threads in the last sweep */
};

static void choose_programs(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_program__set_autoload(skeleton->progs.resource_read, wanted);
	bpf_program__set_autoload(skeleton->progs.resource_exiting, wanted);
	bpf_program__set_autoload(skeleton->progs.resource_freed, wanted);
	bpf_program__set_autoload(skeleton->progs.resource_executed, wanted);
	bpf_map__set_autocreate(skeleton->maps.resource_record, wanted);
	bpf_map__set_autocreate(skeleton->maps.resource_exiting_threads, wanted);
	bpf_map__set_autocreate(skeleton->maps.cgroups_told, wanted);
	bpf_map__set_autocreate(skeleton->maps.cgroup_scratch, wanted);
}

/* Without the hierarchy, or without memory, only the names are missing. */
static void open_cgroups(struct resource_account *account)
{
	struct cgroup_root *root = cgroup_root_open();

	if (!root)
		return;
	account->skeleton->bss->resource_control.cgroup_root_id = cgroup_root_id(root);
	account->cgroups = cgroup_namer_new(root);
}

int resource_account_configure(struct pkbpf_bpf *skeleton, const struct session_options *options,
			       struct resource_account **ret_account, struct error *error)
{
	struct resource_account *account;

	choose_programs(skeleton, options->want_resources);
	*ret_account = NULL;
	if (!options->want_resources)
		return 0;
	account = calloc(1, sizeof(*account));
	if (!account)
		return error_set(error, ENOMEM,
				 "cannot prepare resource accounting: out of memory");
	account->skeleton = skeleton;
	open_cgroups(account);
	account->has_targets = options->target_mode != PKBPF_TARGET_HOST || options->comm;
	/* Cgroups missing for lack of memory are searched again at the end. */
	for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
		account->limits[i] = cgroup_limits_open("", i, CGROUP_LIMITS_MAX);
		if (account->limits[i] && !account->has_targets)
			cgroup_limits_add_all(account->limits[i]);
	}
	/* Interrupt time can be compared only with the threads of the whole machine. */
	if (!account->has_targets)
		skeleton->bss->resource_control.cpu_count = cpu_list_possible_bound();
	skeleton->bss->resource_control.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	*ret_account = account;
	return 0;
}

bool resource_account_look(struct resource_account *account,
			   const struct pkbpf_event_header *record)
{
	bool is_names = record->kind == PKBPF_EVENT_CGROUP_NAMES;

	/* Without memory only the name is missing. */
	if (account && account->cgroups && record->kind == PKBPF_EVENT_RESOURCE &&
	    record->size >= sizeof(struct pkbpf_event_resource))
		cgroup_namer_look(account->cgroups,
				  ((const struct pkbpf_event_resource *)record)->cgroup_id);
	if (account && account->cgroups && is_names)
		cgroup_namer_take(account->cgroups, record);
	return is_names;
}

int resource_account_names(struct resource_account *account, struct event_buffer *buffer)
{
	return account && account->cgroups ? cgroup_namer_names(account->cgroups, buffer) : 0;
}

static int make_room(struct event_buffer *buffer, size_t size)
{
	size_t capacity = (buffer->size + size) * 2;
	uint8_t *moved;

	if (size <= buffer->capacity - buffer->size)
		return 0;
	moved = realloc(buffer->data, capacity);
	if (!moved)
		return -ENOMEM;
	buffer->data = moved;
	buffer->capacity = capacity;
	return 0;
}

static int append(struct event_buffer *buffer, const void *data, size_t size)
{
	int err = make_room(buffer, size);

	if (err)
		return err;
	memcpy(buffer->data + buffer->size, data, size);
	buffer->size += size;
	return 0;
}

/* The iterator writes whole records, but a read may end in the middle of one. */
static int read_threads(struct resource_account *account, struct event_buffer *buffer)
{
	_cleanup_close_ int fd = bpf_iter_create(bpf_link__fd(account->iterator));
	size_t begin = buffer->size;
	ssize_t got = 1;

	if (fd < 0)
		return -errno;
	while (got) {
		int err = make_room(buffer, READ_BYTES);

		got = err ? 0 : read(fd, buffer->data + buffer->size, READ_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			err = -errno;
		if (err) {
			buffer->size = begin;
			return err;
		}
		buffer->size += (size_t)got;
	}
	for (size_t at = begin; at + sizeof(struct pkbpf_event_resource) <= buffer->size;
	     at += sizeof(struct pkbpf_event_resource))
		resource_account_look(account, (const void *)(buffer->data + at));
	return 0;
}

/* Reads the limits of the targets whose records begin at `at`. A whole host may have many
 * cgroups, so its limits are read outside the interval. */
static int find_limits(struct cgroup_limits *limits, const struct event_buffer *buffer, size_t at)
{
	uint32_t pids = 0;
	int err = 0;

	while (at + sizeof(struct pkbpf_event_resource) <= buffer->size &&
	       pids < LIMITED_PIDS_MAX && !err) {
		const struct pkbpf_event_resource *record = (const void *)(buffer->data + at);

		if (record->tid == record->pid &&
		    record->header.flags != PKBPF_RESOURCE_BYSTANDER) {
			err = cgroup_limits_add_of(limits, record->pid);
			pids++;
		}
		at += sizeof(*record);
	}
	return err;
}

struct limit_moment {
	struct event_buffer *buffer;
	enum pkbpf_resource_moment moment;
};

#define COPY_FIGURE(name) .name = limit->name,

static int append_limit(void *context, const struct cgroup_limit *limit)
{
	const struct limit_moment *work = context;
	int err = cgroup_limit_event_encode(
		work->buffer,
		&(struct cgroup_limit_view){
			.time_ns = clock_now_ns(),
			.moment = work->moment,
			.cgroup_id = limit->cgroup_id,
			PKBPF_CGROUP_LIMIT_FIGURES(COPY_FIGURE, COPY_FIGURE).path = limit->path,
		});

	return err == -ENOMEM ? err : 0;
}

static int read_limits(struct resource_account *account, enum pkbpf_resource_moment moment,
		       size_t threads_at, struct event_buffer *buffer)
{
	struct limit_moment work = {buffer, moment};
	int err = 0;

	for (int i = 0; i < CGROUP_CONTROLLERS && !err; i++) {
		if (!account->limits[i])
			continue;
		if (account->has_targets)
			err = find_limits(account->limits[i], buffer, threads_at);
		err = err ? err : cgroup_limits_read(account->limits[i], 0, append_limit, &work);
	}
	return err;
}

/* Reads the limits of cgroups created meanwhile. */
static int read_new_limits(struct resource_account *account, struct event_buffer *buffer)
{
	struct limit_moment work = {buffer, PKBPF_RESOURCE_END};
	int err = 0;

	for (int i = 0; i < CGROUP_CONTROLLERS && !account->has_targets && !err; i++) {
		struct cgroup_limits *limits = account->limits[i];
		size_t known;

		if (!limits)
			continue;
		cgroup_limits_forget_gone(limits);
		known = cgroup_limits_count(limits);
		err = cgroup_limits_add_all(limits);
		err = err ? err : cgroup_limits_read(limits, known, append_limit, &work);
	}
	return err;
}

static int read_all(struct resource_account *account, enum pkbpf_resource_moment moment,
		    struct event_buffer *buffer, struct error *error)
{
	struct pkbpf_resource_control *control = &account->skeleton->bss->resource_control;
	struct pkbpf_event_machine machine;
	size_t at = buffer->size, threads_at;
	uint64_t begin_ns = clock_now_ns();
	bool has_machine;
	int err;

	control->moment = moment;
	control->threads_ns = 0;
	control->cpus_read = 0;
	err = machine_stat_read("/proc", &machine);
	has_machine = err != -ENOENT;
	if (!err) {
		machine.header.flags = (uint16_t)moment;
		err = machine_event_encode(buffer, &machine);
	}
	/* procfs mounted with subset=pid has no machine-wide files. */
	if (!has_machine)
		err = 0;
	threads_at = buffer->size;
	err = err ? err : read_threads(account, buffer);
	account->end_ns = clock_now_ns();
	if (moment != PKBPF_RESOURCE_CUT)
		account->edges_ns += account->end_ns - begin_ns;
	/* The machine's record comes first: threads started while the others are read have used
	 * nothing before. */
	if (!err && has_machine)
		((struct pkbpf_event_machine *)(buffer->data + at))->threads_ns =
			control->cpus_read == control->cpu_count ? control->threads_ns : 0;
	err = err ? err : read_limits(account, moment, threads_at, buffer);
	err = err ? err : resource_account_names(account, buffer);
	if (err)
		return error_set(error, -err,
				 "cannot read the resource usage of running processes: %s",
				 strerror(-err));
	return 0;
}

int resource_account_begin(struct resource_account *account, struct event_buffer *buffer,
			   struct error *error)
{
	int err;

	if (!account)
		return 0;
	err = tracing_program_attach(account->skeleton->progs.resource_freed, &account->freed,
				     error);
	account->begin_ns = clock_now_ns();
	err = err ? err
		  : tracing_program_attach(account->skeleton->progs.resource_read,
					   &account->iterator, error);
	return err ? err : read_all(account, PKBPF_RESOURCE_START, buffer, error);
}

int resource_account_end(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error)
{
	return account && account->iterator ? read_all(account, PKBPF_RESOURCE_END, buffer, error)
					    : 0;
}

int resource_account_cut(struct resource_account *account, struct event_buffer *buffer,
			 struct error *error)
{
	return account && account->iterator ? read_all(account, PKBPF_RESOURCE_CUT, buffer, error)
					    : 0;
}

/* The thread after *tid that has begun to exit but was not reported as freed; false: none. */
static bool next_exiting(const struct resource_account *account, const uint32_t *tid,
			 uint32_t *next)
{
	return bpf_map_get_next_key(bpf_map__fd(account->skeleton->maps.resource_exiting_threads),
				    tid, next) == 0;
}

/* The programs may change the map during the iteration, which may then restart; so it is
 * bounded. */
static uint32_t exiting_max(const struct resource_account *account)
{
	return bpf_map__max_entries(account->skeleton->maps.resource_exiting_threads);
}

/* A thread that its parent has not reaped (zombie) still exists. */
static bool is_gone(uint32_t tid)
{
	return kill((pid_t)tid, 0) && errno == ESRCH;
}

/* True when the thread began to exit within the interval, no longer exists, and was not reported
 * as freed. */
static bool is_unfreed(const struct resource_account *account,
		       const struct pkbpf_event_resource *record, uint64_t end_ns)
{
	uint64_t exit_ns = record->header.time_ns;

	return exit_ns >= account->begin_ns && exit_ns < end_ns && is_gone(record->tid);
}

/* Number of exited threads not yet freed. */
static uint32_t frees_due(const struct resource_account *account, uint64_t end_ns)
{
	int fd = bpf_map__fd(account->skeleton->maps.resource_exiting_threads);
	struct pkbpf_event_resource record;
	uint32_t tid, *previous = NULL, due = 0;

	for (uint32_t i = 0; i < exiting_max(account) && next_exiting(account, previous, &tid);
	     i++) {
		previous = &tid;
		due += bpf_map_lookup_elem(fd, &tid, &record) == 0 &&
		       is_unfreed(account, &record, end_ns);
	}
	return due;
}

/* Waits until the kernel has freed all of them, within the bounds above. */
static void wait_for_frees(const struct resource_account *account, uint64_t end_ns)
{
	uint32_t due = frees_due(account, end_ns), left;

	for (unsigned int all_us = 0, vain_us = 0;
	     due && all_us < FREE_MOST_WAIT_US && vain_us < FREE_WAIT_US;
	     all_us += FREE_STEP_US, due = left) {
		usleep(FREE_STEP_US);
		left = frees_due(account, end_ns);
		vain_us = left < due ? 0 : vain_us + FREE_STEP_US;
	}
}

int resource_account_sweep(struct resource_account *account, uint64_t now_ns,
			   struct event_buffer *buffer)
{
	int err = 0, fd;
	struct pkbpf_event_resource record;
	uint32_t tid, next, met = 0;
	uint64_t age_ns;
	bool more;

	if (!account || !account->freed || now_ns < account->next_sweep_ns)
		return 0;
	age_ns = account->exiting < exiting_max(account) / 2 ? SWEEP_AGE_NS : SWEEP_CROWD_AGE_NS;
	fd = bpf_map__fd(account->skeleton->maps.resource_exiting_threads);
	more = next_exiting(account, NULL, &next);
	for (uint32_t i = 0; !err && more && i < exiting_max(account); i++) {
		tid = next;
		more = next_exiting(account, &tid, &next);
		met++;
		if (bpf_map_lookup_elem(fd, &tid, &record) ||
		    record.header.time_ns + age_ns > now_ns || !is_gone(tid) ||
		    bpf_map_delete_elem(fd, &tid))
			continue;
		err = append(buffer, &record, sizeof(record));
		account->unfreed += record.header.time_ns >= account->begin_ns;
	}
	account->exiting = met;
	account->next_sweep_ns = now_ns + SWEEP_PERIOD_NS + SWEEP_RATIO * (clock_now_ns() - now_ns);
	return err;
}

/* Appends the threads that are exiting, with their usage at the start of the exit. */
static int append_exiting(struct resource_account *account, uint64_t end_ns,
			  struct event_buffer *buffer)
{
	int fd = bpf_map__fd(account->skeleton->maps.resource_exiting_threads), err = 0;
	struct pkbpf_event_resource record;
	uint32_t tid, *previous = NULL;

	for (uint32_t i = 0;
	     !err && i < exiting_max(account) && next_exiting(account, previous, &tid); i++) {
		previous = &tid;
		if (bpf_map_lookup_elem(fd, &tid, &record))
			continue;
		err = append(buffer, &record, sizeof(record));
		account->unfreed += is_unfreed(account, &record, end_ns);
	}
	return err;
}

int resource_account_settle(struct resource_account *account, struct event_buffer *buffer)
{
	uint64_t now_ns = clock_now_ns();
	int err;

	if (!account || !account->freed)
		return 0;
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	wait_for_frees(account, now_ns);
	bpf_link__destroy(account->freed);
	account->freed = NULL;
	err = append_exiting(account, now_ns, buffer);
	return err ? err : read_new_limits(account, buffer);
}

void resource_account_counters(const struct resource_account *account,
			       uint64_t counters[PKBPF_COUNTER_COUNT])
{
	if (!account)
		return;
	if (account->edges_ns > EDGES_NOTED_NS &&
	    account->edges_ns > (account->end_ns - account->begin_ns) / EDGES_NOTED_PART)
		counters[PKBPF_COUNTER_ACCOUNT_EDGES_MS] += account->edges_ns / 1000000;
	counters[PKBPF_COUNTER_RESOURCE_UNFREED] += account->unfreed;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (account->limits[i])
			counters[PKBPF_COUNTER_CPU_LIMITS_LEFT_OUT] +=
				cgroup_limits_left_out(account->limits[i]);
	if (account->cgroups)
		counters[PKBPF_COUNTER_CGROUPS_UNNAMED] += cgroup_namer_unnamed(account->cgroups);
}

void resource_account_free(struct resource_account *account)
{
	if (!account)
		return;
	bpf_link__destroy(account->freed);
	bpf_link__destroy(account->iterator);
	cgroup_namer_free(account->cgroups);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		cgroup_limits_close(account->limits[i]);
	free(account);
}
