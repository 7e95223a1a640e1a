// SPDX-License-Identifier: BSD-2-Clause
/* Translates perf's side-band records (perf_event_open(2), "MMAP layout") into pkbpf records. */
#include "capture/perf_sideband.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/perf_event.h"

/* An exec makes 4 MMAP2 records of about 150 bytes: 256 KiB hold 400 execs between two wake-ups.
 * Larger machines get smaller rings, so that the sum stays below 8 MiB of locked memory for up
 * to 128 CPUs. */
#define RING_BYTES_FEW_CPUS  (256 * 1024)
#define RING_BYTES_MANY_CPUS (64 * 1024)
#define MANY_CPUS	     16

struct ring {
	struct listed_cpu cpu;
	int fd;
	struct perf_event_mmap_page *control;
	size_t mapped_bytes;
	const uint8_t *data;
	uint64_t data_bytes; /* power of two */
};

struct perf_sideband {
	ARRAY_OF(struct ring) rings;
	size_t ring_bytes;
	uint32_t wakeup_bytes;
	int epoll_fd;
	uint64_t epoll_tag;
	uint8_t scratch[UINT16_MAX + 1]; /* a record that wraps around the end of the ring */
};

/* sample_id_all appends this to each record, for sample_type TID | TIME. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

static void sideband_attr(uint32_t wakeup_bytes, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1, /* executable mappings only: mmap_data is off */
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = wakeup_bytes,
	};
}

static void ring_close(struct perf_sideband *sideband, struct ring *ring)
{
	if (ring->control)
		munmap(ring->control, ring->mapped_bytes);
	if (ring->fd >= 0) {
		epoll_ctl(sideband->epoll_fd, EPOLL_CTL_DEL, ring->fd, NULL);
		close(ring->fd);
	}
}

static int ring_open(struct perf_sideband *sideband, struct listed_cpu cpu, struct error *error)
{
	struct epoll_event wanted = {.events = EPOLLIN, .data.u64 = sideband->epoll_tag};
	struct ring ring = {.cpu = cpu};
	struct perf_event_attr attr;
	long page = sysconf(_SC_PAGESIZE);
	struct ring *slot;
	void *mapped;

	sideband_attr(sideband->wakeup_bytes, &attr);
	ring.fd = perf_event_open_cpu(&attr, cpu.number, error);
	if (ring.fd < 0)
		return ring.fd;
	ring.data_bytes = sideband->ring_bytes;
	ring.mapped_bytes = (size_t)page + ring.data_bytes;
	mapped = mmap(NULL, ring.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (mapped == MAP_FAILED) {
		int errnum = errno;

		close(ring.fd);
		return error_set(error, errnum,
				 "cannot map the ring of process events on CPU %u: %s; raise "
				 "sysctl kernel.perf_event_mlock_kb "
				 "or run as root",
				 cpu.number, strerror(errnum));
	}
	ring.control = mapped;
	ring.data = (const uint8_t *)mapped + page;
	slot = array_add(&sideband->rings);
	if (!slot || epoll_ctl(sideband->epoll_fd, EPOLL_CTL_ADD, ring.fd, &wanted)) {
		int err = slot ? -errno : -ENOMEM;

		if (slot)
			sideband->rings.count--;
		munmap(mapped, ring.mapped_bytes);
		close(ring.fd);
		return error_set(error, -err, "cannot watch process events on CPU %u: %s",
				 cpu.number, strerror(-err));
	}
	*slot = ring;
	return 0;
}

int perf_sideband_open(const struct cpu_list *cpus, bool lazy, int epoll_fd, uint64_t epoll_tag,
		       struct perf_sideband **ret_sideband, struct error *error)
{
	struct perf_sideband *sideband = calloc(1, sizeof(*sideband));

	if (!sideband)
		return error_set(error, ENOMEM, "cannot watch process events: out of memory");
	sideband->ring_bytes = cpus->count > MANY_CPUS ? RING_BYTES_MANY_CPUS : RING_BYTES_FEW_CPUS;
	sideband->wakeup_bytes = lazy ? (uint32_t)sideband->ring_bytes / 4 : 1;
	sideband->epoll_fd = epoll_fd;
	sideband->epoll_tag = epoll_tag;
	for (size_t i = 0; i < cpus->count; i++) {
		int err = ring_open(sideband, cpus->items[i], error);

		if (err && err != -ENODEV) {
			perf_sideband_close(sideband);
			return err;
		}
	}
	*ret_sideband = sideband;
	return 0;
}

int perf_sideband_update(struct perf_sideband *sideband, const struct cpu_list *cpus,
			 size_t *ret_opened, struct error *error)
{
	struct error later;
	int first_err = 0;

	*ret_opened = 0;

	for (size_t i = 0; i < sideband->rings.count;) {
		struct ring *ring = &sideband->rings.items[i];

		if (cpu_list_still_has(cpus, ring->cpu)) {
			i++;
			continue;
		}
		ring_close(sideband, ring);
		*ring = sideband->rings.items[--sideband->rings.count];
	}
	array_foreach(cpus, cpu) {
		bool known = false;
		int err;

		array_foreach(&sideband->rings, ring)
			known = known || ring->cpu.number == cpu->number;
		err = known ? -ENODEV : ring_open(sideband, *cpu, first_err ? &later : error);
		*ret_opened += !err;
		if (err != -ENODEV && !first_err)
			first_err = err;
	}
	return first_err;
}

void perf_sideband_close(struct perf_sideband *sideband)
{
	if (!sideband)
		return;
	array_foreach(&sideband->rings, ring)
		ring_close(sideband, ring);
	array_free(&sideband->rings);
	free(sideband);
}

static int translate_mapping(const uint8_t *body, size_t body_size, const struct sample_id *id,
			     struct event_buffer *buffer)
{
	struct {
		uint32_t pid, tid;
		uint64_t start, length, file_offset;
		uint32_t device_major, device_minor;
		uint64_t inode, inode_generation;
		uint32_t protection, flags;
	} fixed;
	char path[PATH_MAX];
	size_t path_size;

	if (body_size <= sizeof(fixed))
		return -EBADMSG;
	memcpy(&fixed, body, sizeof(fixed));
	path_size = strnlen((const char *)body + sizeof(fixed), body_size - sizeof(fixed));
	if (path_size >= sizeof(path))
		path_size = sizeof(path) - 1;
	memcpy(path, body + sizeof(fixed), path_size);
	path[path_size] = '\0';
	if (fixed.start + fixed.length <= fixed.start)
		return 0;
	return event_encode_mapping(buffer,
				    &(struct mapping_view){
					    .time_ns = id->time_ns,
					    .pid = fixed.pid,
					    .tid = fixed.tid,
					    .start = fixed.start,
					    .end = fixed.start + fixed.length,
					    .file_offset = fixed.file_offset,
					    .inode = fixed.inode,
					    .device_major = fixed.device_major,
					    .device_minor = fixed.device_minor,
					    .inode_generation = (uint32_t)fixed.inode_generation,
					    .protection = fixed.protection,
					    .path = path,
				    });
}

static int translate_comm(const uint8_t *body, size_t body_size, uint16_t misc,
			  const struct sample_id *id, struct event_buffer *buffer)
{
	struct {
		uint32_t pid, tid;
	} fixed;
	struct task_view task = {
		.time_ns = id->time_ns,
		.kind = PKBPF_EVENT_COMM,
		.exec = misc & PERF_RECORD_MISC_COMM_EXEC,
	};
	size_t length;

	if (body_size <= sizeof(fixed))
		return -EBADMSG;
	memcpy(&fixed, body, sizeof(fixed));
	length = strnlen((const char *)body + sizeof(fixed), body_size - sizeof(fixed));
	if (length > PKBPF_COMM_SIZE)
		length = PKBPF_COMM_SIZE;
	memcpy(task.comm, body + sizeof(fixed), length);
	task.pid = fixed.pid;
	task.tid = fixed.tid;
	return event_encode_task(buffer, &task);
}

static int translate_task(const uint8_t *body, size_t body_size, enum pkbpf_event_kind kind,
			  struct event_buffer *buffer)
{
	struct {
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time_ns;
	} fixed;

	if (body_size < sizeof(fixed))
		return -EBADMSG;
	memcpy(&fixed, body, sizeof(fixed));
	return event_encode_task(buffer, &(struct task_view){
						 .time_ns = fixed.time_ns,
						 .kind = kind,
						 .pid = fixed.pid,
						 .tid = fixed.tid,
						 .parent_pid = fixed.parent_pid,
						 .parent_tid = fixed.parent_tid,
					 });
}

static int translate_lost(const uint8_t *body, size_t body_size, const struct sample_id *id,
			  struct event_buffer *buffer)
{
	uint64_t fixed[2]; /* event id, number of lost records */

	if (body_size < sizeof(fixed))
		return -EBADMSG;
	memcpy(fixed, body, sizeof(fixed));
	return event_encode_lost(buffer, &(struct lost_view){
						 .time_ns = id->time_ns,
						 .cause = PKBPF_COUNTER_LOST_SIDEBAND,
						 .count = fixed[1],
					 });
}

int perf_sideband_translate(const void *record, size_t size, struct event_buffer *buffer)
{
	struct perf_event_header header;
	const uint8_t *body = (const uint8_t *)record + sizeof(header);
	struct sample_id id;
	size_t body_size;

	if (size < sizeof(header) + sizeof(id))
		return -EBADMSG;
	memcpy(&header, record, sizeof(header));
	body_size = size - sizeof(header) - sizeof(id);
	memcpy(&id, body + body_size, sizeof(id));
	switch (header.type) {
	case PERF_RECORD_MMAP2:
		return translate_mapping(body, body_size, &id, buffer);
	case PERF_RECORD_COMM:
		return translate_comm(body, body_size, header.misc, &id, buffer);
	case PERF_RECORD_FORK:
		return translate_task(body, body_size, PKBPF_EVENT_FORK, buffer);
	case PERF_RECORD_EXIT:
		return translate_task(body, body_size, PKBPF_EVENT_EXIT, buffer);
	case PERF_RECORD_LOST:
		return translate_lost(body, body_size, &id, buffer);
	default:
		return 0;
	}
}

static const void *ring_record(struct perf_sideband *sideband, const struct ring *ring,
			       uint64_t tail, size_t size)
{
	size_t offset = tail & (ring->data_bytes - 1);
	size_t first = ring->data_bytes - offset;

	if (size <= first)
		return ring->data + offset;
	memcpy(sideband->scratch, ring->data + offset, first);
	memcpy(sideband->scratch + first, ring->data, size - first);
	return sideband->scratch;
}

static int ring_drain(struct perf_sideband *sideband, struct ring *ring,
		      struct event_buffer *buffer)
{
	uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;
	int err = 0;

	while (tail < head && !err) {
		struct perf_event_header header;

		memcpy(&header, ring_record(sideband, ring, tail, sizeof(header)), sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			/* The kernel never writes such a size. The start of the next record is
			 * unknown. */
			tail = head;
			err = -EBADMSG;
			break;
		}
		err = perf_sideband_translate(ring_record(sideband, ring, tail, header.size),
					      header.size, buffer);
		if (err == -ENOMEM)
			break;
		tail += header.size;
	}
	__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
	return err;
}

bool perf_sideband_waits(const struct perf_sideband *sideband)
{
	array_foreach(&sideband->rings, ring) {
		if (__atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE) !=
		    ring->control->data_tail)
			return true;
	}
	return false;
}

int perf_sideband_drain(struct perf_sideband *sideband, struct event_buffer *buffer)
{
	int result = 0;

	array_foreach(&sideband->rings, ring) {
		int err = ring_drain(sideband, ring, buffer);

		if (err && !result)
			result = err;
	}
	return result;
}
