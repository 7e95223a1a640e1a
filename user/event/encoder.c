// SPDX-License-Identifier: BSD-2-Clause
/* Appends records to a byte buffer, within the bounds the decoder checks. */
#include "event/encoder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <pkbpf/histogram.h>

#include "event/decoder.h"

void event_buffer_clear(struct event_buffer *buffer)
{
	buffer->size = 0;
}

void event_buffer_done(struct event_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct event_buffer){0};
}

void *event_buffer_add(struct event_buffer *buffer, size_t size, uint16_t kind, uint16_t flags,
		       uint64_t time_ns)
{
	struct pkbpf_event_header *header;

	size = (size + 7) & ~(size_t)7;
	if (size > buffer->capacity - buffer->size) {
		size_t capacity = buffer->capacity ? buffer->capacity * 2 : 4096;
		uint8_t *data;

		while (capacity - buffer->size < size)
			capacity *= 2;
		data = realloc(buffer->data, capacity);
		if (!data)
			return NULL;
		buffer->data = data;
		buffer->capacity = capacity;
	}
	header = (struct pkbpf_event_header *)(void *)(buffer->data + buffer->size);
	memset(header, 0, size);
	header->size = (uint32_t)size;
	header->kind = kind;
	header->flags = flags;
	header->time_ns = time_ns;
	buffer->size += size;
	return header;
}

static void fill_comm(char *to, const char *from)
{
	memcpy(to, from, strnlen(from, PKBPF_COMM_SIZE));
}

static void fill_words(void *to, const uint64_t *from, size_t count)
{
	if (count)
		memcpy(to, from, count * sizeof(*from));
}

/* extra_size bytes follow the frames. */
static struct pkbpf_event_sample *append_sample(struct event_buffer *buffer,
						enum pkbpf_event_kind kind,
						const struct sample_view *view, size_t extra_size)
{
	struct pkbpf_event_sample *sample;

	sample = event_buffer_add(
		buffer,
		sizeof(*sample) + (view->kernel_count + view->user_count) * sizeof(uint64_t) +
			extra_size,
		kind, view->after_syscall ? PKBPF_SAMPLE_AFTER_SYSCALL : 0, view->time_ns);
	if (!sample)
		return NULL;
	sample->pid = view->pid;
	sample->tid = view->tid;
	sample->cpu = view->cpu;
	sample->profile_kind = (uint8_t)view->kind;
	sample->user_end = (uint8_t)view->user_end;
	sample->state = view->state;
	sample->n_kernel = (uint16_t)view->kernel_count;
	sample->n_user = (uint16_t)view->user_count;
	sample->n_guessed = (uint16_t)view->guessed_count;
	sample->region = (uint16_t)view->region;
	sample->cgroup_id = view->cgroup_id;
	sample->count = view->count;
	sample->weight = view->weight;
	fill_comm(sample->comm, view->comm);
	fill_words(sample->ips, view->kernel_ips, view->kernel_count);
	fill_words(sample->ips + view->kernel_count, view->user_ips, view->user_count);
	return sample;
}

static bool stack_fits(size_t kernel_count, size_t user_count, size_t guessed_count,
		       enum pkbpf_stack_end user_end)
{
	return kernel_count <= PKBPF_MAX_KERNEL_FRAMES && user_count <= PKBPF_MAX_USER_FRAMES &&
	       guessed_count <= user_count && (unsigned int)user_end < PKBPF_END_COUNT;
}

static bool sample_fits(const struct sample_view *sample)
{
	return stack_fits(sample->kernel_count, sample->user_count, sample->guessed_count,
			  sample->user_end) &&
	       (unsigned int)sample->kind < PKBPF_PROFILE_KINDS;
}

int event_encode_sample(struct event_buffer *buffer, const struct sample_view *sample)
{
	if (!sample_fits(sample))
		return -EINVAL;
	return append_sample(buffer, PKBPF_EVENT_SAMPLE, sample, 0) ? 0 : -ENOMEM;
}

int event_encode_raw_stack(struct event_buffer *buffer, const struct raw_stack_view *raw)
{
	size_t head = PKBPF_RAW_HEAD_WORDS + (raw->stack_id ? 1 : 0);
	struct sample_view view = raw->sample;
	struct pkbpf_event_sample *sample;
	uint64_t *words;

	if (raw->python_count) {
		view.user_ips = raw->python;
		view.user_count = raw->python_count;
	}
	if (!sample_fits(&view) || (raw->python_count && raw->check) ||
	    (raw->sample.user_count && !raw->check) || raw->stack_size % sizeof(uint64_t) ||
	    raw->stack_size > EVENT_MAX_RAW_STACK_SIZE ||
	    raw->stack_start > UINT64_MAX - raw->stack_size)
		return -EINVAL;
	sample = append_sample(buffer, PKBPF_EVENT_RAW_STACK, &view,
			       head * sizeof(uint64_t) + raw->stack_size);
	if (!sample)
		return -ENOMEM;
	if (raw->check)
		sample->header.flags |= PKBPF_RAW_CHECK;
	if (raw->cut)
		sample->header.flags |= PKBPF_RAW_CUT;
	if (raw->stack_id)
		sample->header.flags |= PKBPF_RAW_NUMBERED;
	if (raw->python_count)
		sample->header.flags |= PKBPF_RAW_PYTHON;
	words = (uint64_t *)sample->ips + view.kernel_count + view.user_count;
	fill_words(words, raw->regs, PKBPF_REGS);
	words[PKBPF_REGS] = raw->stack_start;
	words[PKBPF_REGS + 1] = raw->stack_size;
	words[PKBPF_REGS + 2] = raw->holes;
	if (raw->stack_id)
		words[PKBPF_RAW_HEAD_WORDS] = raw->stack_id;
	if (raw->stack_size)
		memcpy(words + head, raw->stack, raw->stack_size);
	return 0;
}

int event_encode_task(struct event_buffer *buffer, const struct task_view *view)
{
	struct pkbpf_event_task *task;
	uint16_t flags = view->from_snapshot ? PKBPF_FROM_SNAPSHOT : 0;

	if (view->kind != PKBPF_EVENT_FORK && view->kind != PKBPF_EVENT_COMM &&
	    view->kind != PKBPF_EVENT_EXIT)
		return -EINVAL;
	if (view->kind == PKBPF_EVENT_COMM && view->exec)
		flags |= PKBPF_COMM_EXEC;
	task = event_buffer_add(buffer, sizeof(*task), view->kind, flags, view->time_ns);
	if (!task)
		return -ENOMEM;
	task->pid = view->pid;
	task->tid = view->tid;
	task->parent_pid = view->parent_pid;
	task->parent_tid = view->parent_tid;
	fill_comm(task->comm, view->comm);
	return 0;
}

int event_encode_mapping(struct event_buffer *buffer, const struct mapping_view *view)
{
	size_t length = strnlen(view->path, PATH_MAX - 1);
	size_t padded = (length + sizeof(uint64_t)) / sizeof(uint64_t) * sizeof(uint64_t);
	struct pkbpf_event_mapping *mapping;

	if (view->start >= view->end)
		return -EINVAL;
	mapping = event_buffer_add(buffer, sizeof(*mapping) + padded, PKBPF_EVENT_MAPPING,
				   view->from_snapshot ? PKBPF_FROM_SNAPSHOT : 0, view->time_ns);
	if (!mapping)
		return -ENOMEM;
	mapping->pid = view->pid;
	mapping->tid = view->tid;
	mapping->start = view->start;
	mapping->end = view->end;
	mapping->file_offset = view->file_offset;
	mapping->inode = view->inode;
	mapping->device_major = view->device_major;
	mapping->device_minor = view->device_minor;
	mapping->inode_generation = view->inode_generation;
	mapping->protection = view->protection;
	memcpy(mapping->path, view->path, length);
	return 0;
}

int event_encode_lost(struct event_buffer *buffer, const struct lost_view *view)
{
	struct pkbpf_event_lost *lost;

	if ((unsigned int)view->cause >= PKBPF_COUNTER_COUNT)
		return -EINVAL;
	lost = event_buffer_add(buffer, sizeof(*lost), PKBPF_EVENT_LOST, 0, view->time_ns);
	if (!lost)
		return -ENOMEM;
	lost->cause = (uint32_t)view->cause;
	lost->count = view->count;
	return 0;
}

int event_encode_stack(struct event_buffer *buffer, uint64_t time_ns, const struct stack_view *view)
{
	struct pkbpf_event_stack *stack;

	if (!stack_fits(view->kernel_count, view->user_count, view->guessed_count, view->user_end))
		return -EINVAL;
	stack = event_buffer_add(
		buffer, sizeof(*stack) + (view->kernel_count + view->user_count) * sizeof(uint64_t),
		PKBPF_EVENT_STACK, view->after_syscall ? PKBPF_SAMPLE_AFTER_SYSCALL : 0, time_ns);
	if (!stack)
		return -ENOMEM;
	stack->stack_id = view->stack_id;
	stack->pid = view->pid;
	stack->user_end = (uint8_t)view->user_end;
	stack->n_kernel = (uint16_t)view->kernel_count;
	stack->n_user = (uint16_t)view->user_count;
	stack->n_guessed = (uint16_t)view->guessed_count;
	stack->region = view->region;
	fill_words(stack->ips, view->kernel_ips, view->kernel_count);
	fill_words(stack->ips + view->kernel_count, view->user_ips, view->user_count);
	return 0;
}

static bool totals_fit(const struct totals_view *totals)
{
	if ((unsigned int)totals->kind >= PKBPF_PROFILE_KINDS ||
	    totals->bucket_count > PKBPF_HISTOGRAM_BUCKETS)
		return false;
	for (size_t i = 0; i < totals->bucket_count; i++)
		if (totals->buckets[i].index >= PKBPF_HISTOGRAM_BUCKETS ||
		    (i && totals->buckets[i].index <= totals->buckets[i - 1].index))
			return false;
	return true;
}

int event_encode_totals(struct event_buffer *buffer, const struct totals_view *view)
{
	uint16_t flags = (uint16_t)((view->estimated ? PKBPF_TOTALS_ESTIMATED : 0) |
				    (view->open ? PKBPF_TOTALS_OPEN : 0));
	struct pkbpf_event_totals *totals;

	if (!totals_fit(view))
		return -EINVAL;
	totals = event_buffer_add(buffer,
				  sizeof(*totals) + view->bucket_count * sizeof(totals->buckets[0]),
				  PKBPF_EVENT_TOTALS, flags, view->time_ns);
	if (!totals)
		return -ENOMEM;
	totals->stack_id = view->stack_id;
	totals->waker_id = view->waker_id;
	totals->pid = view->pid;
	totals->tid = view->tid;
	totals->cgroup_id = view->cgroup_id;
	totals->device = view->device;
	totals->profile_kind = (uint8_t)view->kind;
	totals->state = view->state;
	totals->measure = view->measure;
	fill_comm(totals->comm, view->comm);
	totals->count = view->count;
	totals->total = view->total;
	totals->max = view->max;
	totals->bytes = view->bytes;
	totals->variance = view->variance;
	totals->n_buckets = (uint32_t)view->bucket_count;
	if (view->bucket_count)
		memcpy(totals->buckets, view->buckets, view->bucket_count * sizeof(*view->buckets));
	return 0;
}

int event_encode_slow_io(struct event_buffer *buffer, const struct slow_io_view *view)
{
	uint16_t flags = (uint16_t)((view->open ? PKBPF_SLOW_IO_OPEN : 0) |
				    (view->failed ? PKBPF_SLOW_IO_FAILED : 0) |
				    (view->fua ? PKBPF_SLOW_IO_FUA : 0) |
				    (view->metadata ? PKBPF_SLOW_IO_METADATA : 0));
	struct pkbpf_event_slow_io *slow_io;

	if (view->insert_ns > view->time_ns || view->issue_ns > view->time_ns ||
	    (view->issue_ns < view->insert_ns && !(view->open && !view->issue_ns)))
		return -EINVAL;
	slow_io = event_buffer_add(buffer, sizeof(*slow_io), PKBPF_EVENT_SLOW_IO, flags,
				   view->time_ns);
	if (!slow_io)
		return -ENOMEM;
	slow_io->stack_id = view->stack_id;
	slow_io->cgroup_id = view->cgroup_id;
	slow_io->insert_ns = view->insert_ns;
	slow_io->issue_ns = view->issue_ns;
	slow_io->sector = view->sector;
	slow_io->pid = view->pid;
	slow_io->tid = view->tid;
	slow_io->device = view->device;
	slow_io->bytes = view->bytes;
	slow_io->state = view->state;
	fill_comm(slow_io->comm, view->comm);
	return 0;
}

int event_encode_cut(struct event_buffer *buffer, const struct cut_view *view)
{
	struct pkbpf_event_cut *cut =
		event_buffer_add(buffer, sizeof(*cut), PKBPF_EVENT_CUT, 0, view->time_ns);

	if (!cut)
		return -ENOMEM;
	cut->sequence = view->sequence;
	cut->unix_ns = view->unix_ns;
	return 0;
}
