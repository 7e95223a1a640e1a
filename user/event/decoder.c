// SPDX-License-Identifier: BSD-2-Clause
/* Checks every count, size and enum of a record against its bounds before a sink sees it. */
#include "event/decoder.h"

#include "base/unused.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <pkbpf/histogram.h>

#define WORD sizeof(uint64_t)

int event_check_header(const void *data, size_t size, struct pkbpf_event_header *ret_header)
{
	struct pkbpf_event_header header;

	if (size < sizeof(header))
		return -EMSGSIZE;
	memcpy(&header, data, sizeof(header));
	if (header.size < sizeof(header) || header.size % WORD ||
	    header.size > EVENT_MAX_RECORD_SIZE || header.kind == 0)
		return -EBADMSG;
	if (header.size > size)
		return -EMSGSIZE;
	*ret_header = header;
	return 0;
}

static void copy_comm(char *to, const char *from)
{
	memcpy(to, from, PKBPF_COMM_SIZE);
	to[PKBPF_COMM_SIZE] = '\0';
}

/* Views the common part of a sample and a raw stack. The caller has checked that record_size
 * holds the struct. */
static int view_sample(const struct pkbpf_event_sample *sample, size_t record_size,
		       struct sample_view *ret_view)
{
	size_t words = (size_t)sample->n_kernel + sample->n_user;

	if (sample->n_kernel > PKBPF_MAX_KERNEL_FRAMES || sample->n_user > PKBPF_MAX_USER_FRAMES ||
	    sample->n_guessed > sample->n_user || sample->profile_kind >= PKBPF_PROFILE_KINDS ||
	    sample->user_end >= PKBPF_END_COUNT ||
	    record_size < sizeof(*sample) + words * sizeof(sample->ips[0]))
		return -EBADMSG;
	*ret_view = (struct sample_view){
		.time_ns = sample->header.time_ns,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.kind = sample->profile_kind,
		.user_end = sample->user_end,
		.state = sample->state,
		.after_syscall = sample->header.flags & PKBPF_SAMPLE_AFTER_SYSCALL,
		.cgroup_id = sample->cgroup_id,
		.count = sample->count,
		.weight = sample->weight,
		.kernel_ips = (const uint64_t *)sample->ips,
		.kernel_count = sample->n_kernel,
		.user_ips = (const uint64_t *)sample->ips + sample->n_kernel,
		.user_count = sample->n_user,
		.guessed_count = sample->n_guessed,
		.region = sample->region,
	};
	copy_comm(ret_view->comm, sample->comm);
	return 0;
}

static int decode_sample(const void *data, size_t size, const struct event_sink *sink)
{
	struct sample_view view;
	int err;

	if (size < sizeof(struct pkbpf_event_sample))
		return -EBADMSG;
	err = view_sample(data, size, &view);
	if (err)
		return err;
	if (sink->ops->on_sample)
		sink->ops->on_sample(sink->context, &view);
	return 0;
}

static int decode_raw_stack(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_sample *sample = data;
	struct raw_stack_view view;
	const uint64_t *words;
	uint64_t stack_size;
	size_t head = PKBPF_RAW_HEAD_WORDS, fixed;
	bool has_python;
	int err;

	if (size < sizeof(*sample))
		return -EBADMSG;
	err = view_sample(sample, size, &view.sample);
	if (err)
		return err;
	view.check = sample->header.flags & PKBPF_RAW_CHECK;
	head += sample->header.flags & PKBPF_RAW_NUMBERED ? 1 : 0;
	fixed = sizeof(*sample) + (sample->n_kernel + sample->n_user + head) * WORD;
	has_python = !view.check && sample->header.flags & PKBPF_RAW_PYTHON;
	if ((sample->n_user != 0 && !view.check && !has_python) || size < fixed)
		return -EBADMSG;
	words = view.sample.user_ips + sample->n_user;
	view.python = has_python ? view.sample.user_ips : NULL;
	view.python_count = has_python ? sample->n_user : 0;
	if (!view.check) {
		view.sample.user_ips = NULL;
		view.sample.user_count = 0;
	}
	view.cut = sample->header.flags & PKBPF_RAW_CUT;
	view.regs = words;
	view.stack_start = words[PKBPF_REGS];
	stack_size = words[PKBPF_REGS + 1];
	view.holes = words[PKBPF_REGS + 2];
	if (stack_size > EVENT_MAX_RAW_STACK_SIZE || stack_size % WORD ||
	    stack_size > size - fixed || view.stack_start > UINT64_MAX - stack_size)
		return -EBADMSG;
	view.stack_id = head > PKBPF_RAW_HEAD_WORDS ? words[PKBPF_RAW_HEAD_WORDS] : 0;
	view.stack = (const uint8_t *)(words + head);
	view.stack_size = (size_t)stack_size;
	if (sink->ops->on_raw_stack)
		sink->ops->on_raw_stack(sink->context, &view);
	return 0;
}

static int decode_task(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_task *task = data;
	struct task_view view;

	if (size < sizeof(*task))
		return -EBADMSG;
	view = (struct task_view){
		.time_ns = task->header.time_ns,
		.kind = task->header.kind,
		.pid = task->pid,
		.tid = task->tid,
		.parent_pid = task->parent_pid,
		.parent_tid = task->parent_tid,
		.exec = task->header.kind == PKBPF_EVENT_COMM &&
			task->header.flags & PKBPF_COMM_EXEC,
		.from_snapshot = task->header.flags & PKBPF_FROM_SNAPSHOT,
	};
	copy_comm(view.comm, task->comm);
	if (sink->ops->on_task)
		sink->ops->on_task(sink->context, &view);
	return 0;
}

static int decode_mapping(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_mapping *mapping = data;
	struct mapping_view view;
	size_t length;

	if (size <= sizeof(*mapping))
		return -EBADMSG;
	length = strnlen(mapping->path, size - sizeof(*mapping));
	if (length == size - sizeof(*mapping) || length >= PATH_MAX ||
	    mapping->start >= mapping->end)
		return -EBADMSG;
	view = (struct mapping_view){
		.time_ns = mapping->header.time_ns,
		.pid = mapping->pid,
		.tid = mapping->tid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.inode = mapping->inode,
		.device_major = mapping->device_major,
		.device_minor = mapping->device_minor,
		.inode_generation = mapping->inode_generation,
		.protection = mapping->protection,
		.from_snapshot = mapping->header.flags & PKBPF_FROM_SNAPSHOT,
		.path = mapping->path,
	};
	if (sink->ops->on_mapping)
		sink->ops->on_mapping(sink->context, &view);
	return 0;
}

static int decode_lost(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_lost *lost = data;
	struct lost_view view;

	if (size < sizeof(*lost) || lost->cause >= PKBPF_COUNTER_COUNT)
		return -EBADMSG;
	view = (struct lost_view){
		.time_ns = lost->header.time_ns, .cause = lost->cause, .count = lost->count};
	if (sink->ops->on_lost)
		sink->ops->on_lost(sink->context, &view);
	return 0;
}

static int decode_stack(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_stack *stack = data;
	struct stack_view view;

	if (size < sizeof(*stack) || stack->n_kernel > PKBPF_MAX_KERNEL_FRAMES ||
	    stack->n_user > PKBPF_MAX_USER_FRAMES || stack->n_guessed > stack->n_user ||
	    stack->user_end >= PKBPF_END_COUNT ||
	    size - sizeof(*stack) < ((size_t)stack->n_kernel + stack->n_user) * WORD)
		return -EBADMSG;
	view = (struct stack_view){
		.stack_id = stack->stack_id,
		.pid = stack->pid,
		.after_syscall = stack->header.flags & PKBPF_SAMPLE_AFTER_SYSCALL,
		.user_end = stack->user_end,
		.kernel_ips = (const uint64_t *)stack->ips,
		.kernel_count = stack->n_kernel,
		.user_ips = (const uint64_t *)stack->ips + stack->n_kernel,
		.user_count = stack->n_user,
		.guessed_count = stack->n_guessed,
		.region = stack->region,
	};
	if (sink->ops->on_stack)
		sink->ops->on_stack(sink->context, &view);
	return 0;
}

static int decode_totals(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_totals *totals = data;
	struct totals_view view;

	if (size < sizeof(*totals) || totals->profile_kind >= PKBPF_PROFILE_KINDS ||
	    totals->n_buckets > PKBPF_HISTOGRAM_BUCKETS ||
	    size - sizeof(*totals) < totals->n_buckets * sizeof(totals->buckets[0]))
		return -EBADMSG;
	for (uint32_t i = 0; i < totals->n_buckets; i++)
		if (totals->buckets[i].index >= PKBPF_HISTOGRAM_BUCKETS ||
		    (i && totals->buckets[i].index <= totals->buckets[i - 1].index))
			return -EBADMSG;
	view = (struct totals_view){
		.time_ns = totals->header.time_ns,
		.stack_id = totals->stack_id,
		.waker_id = totals->waker_id,
		.pid = totals->pid,
		.tid = totals->tid,
		.cgroup_id = totals->cgroup_id,
		.device = totals->device,
		.kind = totals->profile_kind,
		.state = totals->state,
		.measure = totals->measure,
		.estimated = totals->header.flags & PKBPF_TOTALS_ESTIMATED,
		.open = totals->header.flags & PKBPF_TOTALS_OPEN,
		.count = totals->count,
		.total = totals->total,
		.max = totals->max,
		.bytes = totals->bytes,
		.variance = totals->variance,
		.buckets = totals->buckets,
		.bucket_count = totals->n_buckets,
	};
	copy_comm(view.comm, totals->comm);
	if (sink->ops->on_totals)
		sink->ops->on_totals(sink->context, &view);
	return 0;
}

static int decode_slow_io(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_slow_io *slow_io = data;
	struct slow_io_view view;
	bool open;

	if (size < sizeof(*slow_io))
		return -EBADMSG;
	open = slow_io->header.flags & PKBPF_SLOW_IO_OPEN;
	if (slow_io->insert_ns > slow_io->header.time_ns ||
	    slow_io->issue_ns > slow_io->header.time_ns ||
	    (slow_io->issue_ns < slow_io->insert_ns && !(open && !slow_io->issue_ns)))
		return -EBADMSG;
	view = (struct slow_io_view){
		.time_ns = slow_io->header.time_ns,
		.insert_ns = slow_io->insert_ns,
		.issue_ns = slow_io->issue_ns,
		.stack_id = slow_io->stack_id,
		.cgroup_id = slow_io->cgroup_id,
		.sector = slow_io->sector,
		.pid = slow_io->pid,
		.tid = slow_io->tid,
		.device = slow_io->device,
		.bytes = slow_io->bytes,
		.state = slow_io->state,
		.open = open,
		.failed = slow_io->header.flags & PKBPF_SLOW_IO_FAILED,
		.fua = slow_io->header.flags & PKBPF_SLOW_IO_FUA,
		.metadata = slow_io->header.flags & PKBPF_SLOW_IO_METADATA,
	};
	copy_comm(view.comm, slow_io->comm);
	if (sink->ops->on_slow_io)
		sink->ops->on_slow_io(sink->context, &view);
	return 0;
}

static int decode_cut(const void *data, size_t size, const struct event_sink *sink)
{
	const struct pkbpf_event_cut *cut = data;
	struct cut_view view;

	if (size < sizeof(*cut))
		return -EBADMSG;
	view = (struct cut_view){
		.time_ns = cut->header.time_ns,
		.sequence = cut->sequence,
		.unix_ns = cut->unix_ns,
	};
	if (sink->ops->on_cut)
		sink->ops->on_cut(sink->context, &view);
	return 0;
}

static int decode_other(const void *data, _unused_ size_t size, const struct event_sink *sink)
{
	if (sink->ops->on_other)
		sink->ops->on_other(sink->context, data);
	return 0;
}

typedef int (*decode_function)(const void *data, size_t size, const struct event_sink *sink);

static const decode_function decoders[] = {
	[PKBPF_EVENT_SAMPLE] = decode_sample,
	[PKBPF_EVENT_FORK] = decode_task,
	[PKBPF_EVENT_COMM] = decode_task,
	[PKBPF_EVENT_EXIT] = decode_task,
	[PKBPF_EVENT_MAPPING] = decode_mapping,
	[PKBPF_EVENT_LOST] = decode_lost,
	[PKBPF_EVENT_RAW_STACK] = decode_raw_stack,
	[PKBPF_EVENT_STACK] = decode_stack,
	[PKBPF_EVENT_TOTALS] = decode_totals,
	[PKBPF_EVENT_SLOW_IO] = decode_slow_io,
	[PKBPF_EVENT_CUT] = decode_cut,
};

int event_decode(const void *data, size_t size, const struct event_sink *sink)
{
	struct pkbpf_event_header header;
	decode_function decode = decode_other;
	int err;

	err = event_check_header(data, size, &header);
	if (err)
		return err;
	if (header.kind < sizeof(decoders) / sizeof(decoders[0]) && decoders[header.kind])
		decode = decoders[header.kind];
	err = decode(data, header.size, sink);
	return err ? err : (int)header.size;
}
