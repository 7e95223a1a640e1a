// SPDX-License-Identifier: BSD-2-Clause
// Records of a machine on paper, fed in one by one.
#include "account_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/blockio.h>
#include <pkbpf/faults.h>
#include <pkbpf/offcpu.h>

#include "base/array.h"
#include "event/decoder.h"
#include "event/resource_event.h"

#define PROGRAM	       "/usr/bin/program"
#define LIBRARY	       "/usr/lib/libc.so.6"
#define DATABASE       "/usr/sbin/mysqld"
#define ACCOUNT_END_NS (ACCOUNT_START_NS + ACCOUNT_INTERVAL_NS)
#define SECOND	       1000000000ULL
#define MS	       1000000ULL

#define NAME(first, text)                                                                          \
	{                                                                                          \
		.space = FRAME_FILE, .path = PROGRAM, .start = (first), .end = (first) + 0x100,    \
		.lines = {                                                                         \
			{.function = text}                                                         \
		}                                                                                  \
	}

#define KERNEL_NAME(first, text)                                                                   \
	{                                                                                          \
		.space = FRAME_KERNEL, .start = (first), .end = (first) + 0x100,                   \
		.flags = SYMBOL_IS_KERNEL, .lines = {                                              \
			{.function = text}                                                         \
		}                                                                                  \
	}

static const struct fake_symbol symbols[] = {
	NAME(0x1000, "main"),
	NAME(0x1100, "exec_query"),
	NAME(0x1200, "XLogFlush"),
	NAME(0x1300, "list_append"),
	NAME(0x1400, "spin<int>"),
	NAME(0x1500, "pthread_mutex_lock"),
	NAME(0x1600, "lock_wait"),
	NAME(0x1700, "run_retry_queue"),
	NAME(0x1800, "cudaStreamSynchronize"),
	NAME(0x1900, "cudaLaunchKernel"),
	NAME(0x1a00, "cudaMemcpy"),
	FAKE_FUNCTION(LIBRARY, 0x3000, 0x3100, "fdatasync"),
	FAKE_FUNCTION(LIBRARY, 0x3100, 0x3200, "__libc_start_call_main"),
	FAKE_FUNCTION(LIBRARY, 0x3200, 0x3300, "getaddrinfo"),
	FAKE_FUNCTION(LIBRARY, 0x3300, 0x3400, "pthread_mutex_lock"),
	FAKE_FUNCTION(LIBRARY, 0x3400, 0x3500, "pthread_rwlock_wrlock"),
	FAKE_FUNCTION(LIBRARY, 0x3500, 0x3600, "pthread_rwlock_rdlock"),
	FAKE_FUNCTION(DATABASE, 0x5000, 0x5100, "lock_wait"),
	KERNEL_NAME(0xffffffff81000000, "io_schedule"),
	KERNEL_NAME(0xffffffff81000200, "do_epoll_wait"),
	KERNEL_NAME(0xffffffff81000400, "read_events"),
	KERNEL_NAME(0xffffffff81000600, "futex_wait_queue"),
	KERNEL_NAME(0xffffffff81000800, "io_cqring_wait"),
	KERNEL_NAME(0xffffffff81000a00, "jbd2_log_wait_commit"),
	KERNEL_NAME(0xffffffff81000c00, "__x64_sys_futex"),
	KERNEL_NAME(0xffffffff81000e00, "futex_wake"),
	KERNEL_NAME(0xffffffff81001000, "futex_wait_setup"),
	KERNEL_NAME(0xffffffff81001200, "__x64_sys_recvfrom"),
	KERNEL_NAME(0xffffffff81001400, "skb_copy_datagram_iter"),
	KERNEL_NAME(0xffffffff81001600, "asm_exc_page_fault"),
	KERNEL_NAME(0xffffffff81001800, "do_wp_page"),
	KERNEL_NAME(0xffffffff81001a00, "hrtimer_nanosleep"),
	KERNEL_NAME(0xffffffff81001c00, "__x64_sys_madvise"),
	KERNEL_NAME(0xffffffff81001e00, "do_swap_page"),
	KERNEL_NAME(0xffffffff81002000, "migration_entry_wait"),
	KERNEL_NAME(0xffffffff81002200, "try_to_free_pages"),
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void play(struct fake_profile *fake, struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fake->aggregator);

	for (size_t at = 0; at < buffer->size;) {
		int size = event_decode(buffer->data + at, buffer->size - at, &sink);

		require(size > 0);
		at += (size_t)size;
	}
	event_buffer_done(buffer);
}

static void play_machine(struct fake_profile *fake, enum pkbpf_resource_moment moment,
			 uint64_t busy_ns, uint64_t idle_ns, uint64_t threads_ns)
{
	struct pkbpf_event_machine machine = {
		.header = {.flags = (uint16_t)moment,
			   .time_ns = moment == PKBPF_RESOURCE_START ? ACCOUNT_START_NS
								     : ACCOUNT_END_NS},
		.user_ns = busy_ns,
		.idle_ns = idle_ns,
		.memory_bytes = 8ULL << 30,
		.memory_available_bytes = 3ULL << 30,
		.threads_ns = threads_ns,
	};
	struct event_buffer buffer = {0};

	require(machine_event_encode(&buffer, &machine) == 0);
	play(fake, &buffer);
}

void account_begin(struct fake_profile *fake, uint32_t kinds_mask, uint64_t busy_ns,
		   uint64_t idle_ns)
{
	account_begin_counted(fake, kinds_mask, busy_ns, idle_ns, 0);
}

void account_begin_counted(struct fake_profile *fake, uint32_t kinds_mask, uint64_t busy_ns,
			   uint64_t idle_ns, uint64_t threads_ns)
{
	uint64_t before_ns = threads_ns ? 50 * SECOND : 0;
	struct profile_info *info;

	fake_profile_init(fake, NULL);
	info = profile_info(fake->profile);
	snprintf(info->host, sizeof(info->host), "paper");
	snprintf(info->kernel, sizeof(info->kernel), "Linux 6.1.0");
	snprintf(info->targets, sizeof(info->targets), "whole host");
	snprintf(info->cpu_event, sizeof(info->cpu_event), "cycles");
	info->frequency_hz = 99;
	info->kinds_mask = kinds_mask;
	info->start_ns = ACCOUNT_START_NS;
	info->end_ns = ACCOUNT_END_NS;
	info->start_unix_ns = 1700000000123456789LL;
	info->cpu_count = 2;
	info->own_cpu_ns = 123 * MS;
	info->max_resident_bytes = 40 << 20;
	play_machine(fake, PKBPF_RESOURCE_START, 100 * SECOND, 100 * SECOND, before_ns);
	play_machine(fake, PKBPF_RESOURCE_END, 100 * SECOND + busy_ns, 100 * SECOND + idle_ns,
		     before_ns + threads_ns);
}

static void play_thread(struct fake_profile *fake, struct resource_view *view, const char *comm)
{
	struct event_buffer buffer = {0};

	snprintf(view->comm, sizeof(view->comm), "%s", comm);
	require(resource_event_encode(&buffer, view) == 0);
	play(fake, &buffer);
}

static void announce(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t time_ns,
		     bool is_new)
{
	struct task_view task = {.kind = PKBPF_EVENT_FORK,
				 .pid = pid,
				 .tid = pid,
				 .parent_pid = 1,
				 .parent_tid = 1,
				 .time_ns = time_ns,
				 .from_snapshot = !is_new};
	struct mapping_view mapping = {.time_ns = time_ns,
				       .pid = pid,
				       .tid = pid,
				       .start = 0x1000,
				       .end = 0x2000,
				       .file_offset = 0x1000,
				       .inode = 7,
				       .device_major = 8,
				       .protection = PKBPF_PROT_EXEC,
				       .from_snapshot = !is_new,
				       .path = PROGRAM};
	struct event_buffer buffer = {0};

	require(event_encode_task(&buffer, &task) == 0);
	task.kind = PKBPF_EVENT_COMM;
	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	require(event_encode_task(&buffer, &task) == 0);
	require(event_encode_mapping(&buffer, &mapping) == 0);
	mapping.start = mapping.file_offset = 0x3000;
	mapping.end = 0x4000;
	mapping.inode++;
	mapping.path = LIBRARY;
	require(event_encode_mapping(&buffer, &mapping) == 0);
	mapping.start = mapping.file_offset = 0x5000;
	mapping.end = 0x6000;
	mapping.inode++;
	mapping.path = DATABASE;
	require(event_encode_mapping(&buffer, &mapping) == 0);
	play(fake, &buffer);
}

static void play_totals(struct fake_profile *fake, struct totals_view view, const char *comm)
{
	struct event_buffer buffer = {0};

	view.time_ns = ACCOUNT_START_NS + SECOND;
	snprintf(view.comm, sizeof(view.comm), "%s", comm);
	require(event_encode_totals(&buffer, &view) == 0);
	play(fake, &buffer);
}

void account_process(struct fake_profile *fake, const struct account_process *process)
{
	struct resource_view view = {
		.time_ns = ACCOUNT_START_NS + 1,
		.moment = PKBPF_RESOURCE_START,
		.pid = process->pid,
		.tid = process->pid,
		.parent_pid = process->parent_pid ? process->parent_pid : 1,
		.process_start_ns = SECOND,
		.thread_start_ns = SECOND,
		.cgroup_id = process->cgroup_id,
		.counters = {.run_ns = 5 * SECOND, .user_ns = 5 * SECOND},
		.rss_bytes = process->start_rss_bytes,
		.anonymous_rss_bytes = process->start_rss_bytes - process->start_shared_rss_bytes,
	};

	announce(fake, process->pid, process->comm, ACCOUNT_START_NS, false);
	if (profile_info(fake->profile)->kinds_mask & 1U << PKBPF_PROFILE_OFFCPU)
		play_totals(fake,
			    (struct totals_view){.pid = process->pid,
						 .tid = process->pid,
						 .kind = PKBPF_PROFILE_OFFCPU,
						 .measure = PKBPF_OFFCPU_WALL,
						 .count = 1,
						 .total = ACCOUNT_INTERVAL_NS},
			    process->comm);
	play_thread(fake, &view, process->comm);
	view.time_ns = ACCOUNT_END_NS + 1;
	view.moment = PKBPF_RESOURCE_END;
	view.rss_bytes = view.peak_rss_bytes = process->rss_bytes;
	view.anonymous_rss_bytes = process->rss_bytes - process->shared_rss_bytes;
	view.counters = (struct resource_counters){
		.run_ns = 5 * SECOND + process->run_ns,
		.user_ns = 5 * SECOND + process->run_ns * (1000 - process->system_permille) / 1000,
		.system_ns = process->run_ns * process->system_permille / 1000,
		.run_delay_ns = process->run_delay_ns,
		.voluntary_switches = process->voluntary,
		.involuntary_switches = process->involuntary,
		.minor_faults = process->minor,
		.major_faults = process->major,
		.read_bytes = process->read_bytes,
		.written_bytes = process->written_bytes,
	};
	play_thread(fake, &view, process->comm);
}

void account_oom_killed(struct fake_profile *fake, uint32_t pid, const char *comm,
			uint64_t peak_rss_bytes)
{
	struct resource_view view = {
		.time_ns = ACCOUNT_START_NS + 1,
		.moment = PKBPF_RESOURCE_START,
		.pid = pid,
		.tid = pid,
		.process_start_ns = SECOND,
		.thread_start_ns = SECOND,
		.rss_bytes = 1 << 20,
	};

	play_thread(fake, &view, comm);
	view.time_ns = ACCOUNT_START_NS + SECOND;
	view.moment = PKBPF_RESOURCE_EXIT;
	view.oom_killed = true;
	view.rss_bytes = 0;
	view.peak_rss_bytes = peak_rss_bytes;
	view.counters.run_ns = MS;
	play_thread(fake, &view, comm);
}

void account_short(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t run_ns)
{
	struct resource_view view = {
		.time_ns = ACCOUNT_START_NS + 2 * SECOND,
		.moment = PKBPF_RESOURCE_EXIT,
		.pid = pid,
		.tid = pid,
		.process_start_ns = ACCOUNT_START_NS + SECOND + 500 * MS,
		.thread_start_ns = ACCOUNT_START_NS + SECOND + 500 * MS,
		.counters = {.run_ns = run_ns, .minor_faults = 100, .voluntary_switches = 1},
		.peak_rss_bytes = 1 << 20,
	};

	play_thread(fake, &view, comm);
}

void account_waits(struct fake_profile *fake, uint32_t pid, const char *comm, unsigned int state,
		   uint64_t count, uint64_t each_ns, uint64_t stack_id, struct fake_ips kernel,
		   struct fake_ips user)
{
	struct stack_view stack = {.stack_id = stack_id,
				   .pid = pid,
				   .user_end = PKBPF_END_ROOT,
				   .kernel_ips = kernel.items,
				   .kernel_count = kernel.count,
				   .user_ips = user.items,
				   .user_count = user.count};
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each_ns), (uint32_t)count};
	struct totals_view totals = {.pid = pid,
				     .kind = PKBPF_PROFILE_OFFCPU,
				     .state = (uint8_t)state,
				     .count = count,
				     .total = count * each_ns,
				     .max = each_ns,
				     .stack_id = stack_id};
	struct event_buffer buffer = {0};

	require(event_encode_stack(&buffer, ACCOUNT_START_NS + 1, &stack) == 0);
	play(fake, &buffer);
	totals.measure = PKBPF_OFFCPU_WAITS;
	play_totals(fake, totals, comm);
	totals.stack_id = 0;
	totals.measure = PKBPF_OFFCPU_LENGTHS;
	totals.buckets = &bucket;
	totals.bucket_count = 1;
	play_totals(fake, totals, comm);
	totals.measure = PKBPF_OFFCPU_TIME;
	totals.tid = pid;
	totals.bucket_count = 0;
	play_totals(fake, totals, comm);
}

void account_queued(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		    uint64_t each_ns)
{
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each_ns), (uint32_t)count};
	struct totals_view totals = {.pid = pid,
				     .kind = PKBPF_PROFILE_OFFCPU,
				     .state = PKBPF_WAIT_RUNQUEUE,
				     .measure = PKBPF_OFFCPU_WAITS,
				     .total = count * each_ns,
				     .max = each_ns};

	play_totals(fake, totals, comm);
	totals.measure = PKBPF_OFFCPU_LENGTHS;
	totals.count = count;
	totals.buckets = &bucket;
	totals.bucket_count = 1;
	play_totals(fake, totals, comm);
	totals.measure = PKBPF_OFFCPU_TIME;
	totals.tid = pid;
	totals.bucket_count = 0;
	play_totals(fake, totals, comm);
}

void account_exec(struct fake_profile *fake, uint32_t pid, const char *comm)
{
	struct task_view task = {.kind = PKBPF_EVENT_COMM,
				 .pid = pid,
				 .tid = pid,
				 .time_ns = ACCOUNT_START_NS + SECOND,
				 .exec = true};
	struct event_buffer buffer = {0};

	snprintf(task.comm, sizeof(task.comm), "%s", comm);
	require(event_encode_task(&buffer, &task) == 0);
	play(fake, &buffer);
}

void account_on_cpu(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t time_ns)
{
	play_totals(fake,
		    (struct totals_view){.pid = pid,
					 .tid = pid,
					 .kind = PKBPF_PROFILE_OFFCPU,
					 .state = PKBPF_WAIT_NONE,
					 .measure = PKBPF_OFFCPU_TIME,
					 .count = 1,
					 .total = time_ns,
					 .max = time_ns},
		    comm);
}

void account_requests(struct fake_profile *fake, uint32_t pid, const char *comm,
		      unsigned int operation, uint64_t count, uint64_t each_bytes, uint64_t each_ns,
		      uint64_t queue_ns)
{
	struct pkbpf_histogram_bucket bucket = {pkbpf_histogram_index(each_ns), (uint32_t)count};
	struct totals_view totals = {.pid = pid,
				     .device = ACCOUNT_DEVICE,
				     .kind = PKBPF_PROFILE_BLOCKIO,
				     .state = (uint8_t)operation,
				     .measure = PKBPF_BLOCKIO_DEVICE_TIME,
				     .count = count,
				     .total = count * each_ns,
				     .max = each_ns,
				     .bytes = count * each_bytes,
				     .buckets = &bucket,
				     .bucket_count = 1};

	play_totals(fake, totals, comm);
	bucket.index = pkbpf_histogram_index(queue_ns);
	totals.measure = PKBPF_BLOCKIO_QUEUE_TIME;
	totals.total = count * queue_ns;
	totals.max = queue_ns;
	totals.bytes = 0;
	play_totals(fake, totals, comm);
}

void account_slow_io(struct fake_profile *fake, const struct account_slow_io *request)
{
	uint64_t insert_ns = ACCOUNT_START_NS + request->at_ns;
	struct event_sink sink = aggregator_sink(fake->aggregator);
	struct slow_io_view view = {
		.time_ns = insert_ns + request->queue_ns + request->device_ns,
		.insert_ns = insert_ns,
		.issue_ns = insert_ns + request->queue_ns,
		.stack_id = request->stack_id,
		.cgroup_id = request->cgroup_id,
		.sector = request->sector,
		.pid = request->pid,
		.tid = request->tid,
		.device = ACCOUNT_DEVICE,
		.bytes = (uint32_t)request->bytes,
		.state = (uint8_t)request->operation,
		.open = request->open,
		.failed = request->failed,
		.fua = request->fua,
		.metadata = request->metadata,
	};

	snprintf(view.comm, sizeof(view.comm), "%s", request->comm);
	sink.ops->on_slow_io(sink.context, &view);
}

static void play_sample(struct fake_profile *fake, struct sample_view sample, const char *comm)
{
	struct event_buffer buffer = {0};

	sample.time_ns = ACCOUNT_START_NS + SECOND;
	sample.tid = sample.pid;
	sample.user_end = PKBPF_END_ROOT;
	sample.weight = sample.count;
	snprintf(sample.comm, sizeof(sample.comm), "%s", comm);
	require(event_encode_sample(&buffer, &sample) == 0);
	play(fake, &buffer);
	if (sample.kind == PKBPF_PROFILE_CPU) {
		profile_info(fake->profile)->counters[PKBPF_COUNTER_CPU_EXPECTED] += sample.count;
		profile_info(fake->profile)->counters[PKBPF_COUNTER_CPU_RECORDED] += sample.count;
	}
}

static void play_samples(struct fake_profile *fake, enum pkbpf_profile_kind kind, uint8_t state,
			 uint32_t pid, const char *comm, uint64_t count, struct fake_ips user)
{
	play_sample(fake,
		    (struct sample_view){.pid = pid,
					 .kind = kind,
					 .state = state,
					 .count = count,
					 .user_ips = user.items,
					 .user_count = user.count},
		    comm);
}

void account_kernel_samples(struct fake_profile *fake, uint32_t pid, const char *comm,
			    uint64_t count, struct fake_ips kernel, struct fake_ips user)
{
	play_sample(fake,
		    (struct sample_view){.pid = pid,
					 .kind = PKBPF_PROFILE_CPU,
					 .count = count,
					 .kernel_ips = kernel.items,
					 .kernel_count = kernel.count,
					 .user_ips = user.items,
					 .user_count = user.count},
		    comm);
}

void account_samples(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		     struct fake_ips user)
{
	play_samples(fake, PKBPF_PROFILE_CPU, 0, pid, comm, count, user);
}

void account_faults(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
		    struct fake_ips user)
{
	play_samples(fake, PKBPF_PROFILE_FAULTS, PKBPF_FAULT_MINOR, pid, comm, count, user);
}

void account_major_faults(struct fake_profile *fake, uint32_t pid, const char *comm, uint64_t count,
			  struct fake_ips user)
{
	play_samples(fake, PKBPF_PROFILE_FAULTS,
		     PKBPF_FAULT_MAJOR | PKBPF_FAULT_MEMORY_FILE << PKBPF_FAULT_MEMORY_SHIFT, pid,
		     comm, count, user);
}

void account_cgroup(struct fake_profile *fake, uint64_t id, const char *path)
{
	struct event_buffer buffer = {0};

	require(cgroup_event_encode(&buffer, ACCOUNT_START_NS, id, path) == 0);
	play(fake, &buffer);
}

void account_cpu_limit(struct fake_profile *fake, uint64_t id, const char *path,
		       unsigned int quota_percent, uint64_t periods, uint64_t throttled_periods)
{
	const uint64_t period_ns = 100000000;
	struct cgroup_limit_view limit = {
		.time_ns = ACCOUNT_START_NS,
		.moment = PKBPF_RESOURCE_START,
		.cgroup_id = id,
		.quota_ns = quota_percent * period_ns / 100,
		.period_ns = period_ns,
		.periods = 1000,
		.throttled_periods = 900,
		.throttled_ns = 1234,
		.path = path,
	};
	struct event_buffer buffer = {0};

	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	limit.time_ns = ACCOUNT_END_NS;
	limit.moment = PKBPF_RESOURCE_END;
	limit.periods += periods;
	limit.throttled_periods += throttled_periods;
	limit.throttled_ns += throttled_periods * period_ns / 2;
	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	play(fake, &buffer);
}

void account_frozen(struct fake_profile *fake, uint64_t id, const char *path)
{
	struct cgroup_limit_view limit = {
		.time_ns = ACCOUNT_START_NS,
		.moment = PKBPF_RESOURCE_START,
		.cgroup_id = id,
		.path = path,
	};
	struct event_buffer buffer = {0};

	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	limit.time_ns = ACCOUNT_END_NS;
	limit.moment = PKBPF_RESOURCE_END;
	limit.frozen = 1;
	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	play(fake, &buffer);
}

void account_memory_limit(struct fake_profile *fake, uint64_t id, const char *path,
			  uint64_t limit_bytes, uint64_t used_bytes, uint64_t reached)
{
	struct cgroup_limit_view limit = {
		.time_ns = ACCOUNT_START_NS,
		.moment = PKBPF_RESOURCE_START,
		.cgroup_id = id,
		.memory_limit = limit_bytes,
		.memory_used = used_bytes / 2,
		.memory_reached = 100,
		.path = path,
	};
	struct event_buffer buffer = {0};

	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	limit.time_ns = ACCOUNT_END_NS;
	limit.moment = PKBPF_RESOURCE_END;
	limit.memory_used = used_bytes;
	limit.memory_reached += reached;
	require(cgroup_limit_event_encode(&buffer, &limit) == 0);
	play(fake, &buffer);
}

void account_container(struct fake_profile *fake, uint64_t id, const char *name)
{
	struct event_buffer buffer = {0};

	require(container_event_encode(&buffer, ACCOUNT_START_NS, id, name) == 0);
	play(fake, &buffer);
}

void account_end(struct fake_profile *fake)
{
	fake_profile_name(fake, symbols, ARRAY_SIZE(symbols));
}
