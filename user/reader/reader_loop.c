// SPDX-License-Identifier: BSD-2-Clause
#include "reader/reader_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "reader/reader_fault.h"

/* Then the next process begins, with nothing of what the last one has kept. */
#define MOST_CPU_NS (600 * NS_PER_SECOND)
/* Without a question for so long, memory goes back to the system. */
#define IDLE_MS 200

int reader_request_file(const struct reader_request *request, const void *bytes, size_t size)
{
	struct reader_tell tell = {
		.sequence = request->sequence, .kind = READER_WANTS, .size = size};
	const struct iovec piece = {(void *)bytes, size};
	struct reader_packet packet;
	ssize_t got;
	int fd, err = reader_send(request->socket_fd, &tell, sizeof(tell), &piece, 1, -1);

	if (err)
		return err;
	got = reader_receive(request->socket_fd, 0, &packet, &fd);
	if (got == (ssize_t)sizeof(packet.head.give) &&
	    packet.head.give.sequence == request->sequence)
		err = packet.head.give.result;
	else
		err = -EPIPE;
	if (!err)
		return fd < 0 ? -EBADMSG : fd;
	if (fd >= 0)
		close(fd);
	return err;
}

static uint64_t size_of(const struct reader_reply *reply)
{
	uint64_t size = 0;

	for (size_t i = 0; i < reply->count; i++)
		size += reply->pieces[i].iov_len;
	return size;
}

static int write_pieces(int fd, const struct reader_reply *reply)
{
	for (size_t i = 0; i < reply->count; i++) {
		int err = file_write_all(fd, reply->pieces[i].iov_base, reply->pieces[i].iov_len);

		if (err)
			return err;
	}
	/* Nobody changes it while it is read, least of all we. */
	return fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0
		       ? -errno
		       : 0;
}

static int send_file(int socket_fd, struct reader_tell *tell, const struct reader_reply *reply)
{
	_cleanup_close_ int fd = memfd_create("pkbpf-answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = fd < 0 ? -errno : write_pieces(fd, reply);

	if (err) {
		tell->result = err;
		tell->size = 0;
		return reader_send(socket_fd, tell, sizeof(*tell), NULL, 0, -1);
	}
	return reader_send(socket_fd, tell, sizeof(*tell), NULL, 0, fd);
}

static int send_reply(int socket_fd, uint64_t sequence, int result,
		      const struct reader_reply *reply)
{
	struct reader_tell tell = {.sequence = sequence, .kind = READER_ANSWERS, .result = result};

	tell.size = result < 0 ? 0 : size_of(reply);
	if (tell.size <= READER_INLINE_BYTES)
		return reader_send(socket_fd, &tell, sizeof(tell), reply->pieces,
				   tell.size ? reply->count : 0, -1);
	return send_file(socket_fd, &tell, reply);
}

/* Readers are killed: what was run is written down with each answer. */
static void note_coverage(void)
{
#ifdef PKBPF_COVERAGE
	extern void __gcov_dump(void), __gcov_reset(void);

	__gcov_dump();
	__gcov_reset();
#endif
}

static int answer(const struct reader_keeper *keeper, int socket_fd,
		  const struct reader_packet *packet, size_t size, int fd)
{
	const struct reader_ask *ask = &packet->head.ask;
	struct reader_request request = {.fd = fd,
					 .bytes = (const char *)packet + sizeof(*ask),
					 .size = size - sizeof(*ask),
					 .socket_fd = socket_fd,
					 .sequence = ask->sequence};
	struct reader_reply reply = {.count = 0};
	int result = -EINVAL, err;

	if (ask->service < READER_SERVICES && keeper->services[ask->service])
		result = keeper->services[ask->service](&request, &reply);
	reader_fault_commit((enum reader_fault)ask->fault, &reply);
	note_coverage();
	err = send_reply(socket_fd, ask->sequence, result, &reply);
	if (reply.release)
		reply.release(reply.context);
	return err;
}

/* Memory is kept for the next question while they come one after the other, as when a capture
 * begins: pages that are given back and taken again cost more than small files do. */
static void await_question(int socket_fd, bool *has_worked)
{
	struct pollfd wait = {.fd = socket_fd, .events = POLLIN};

	if (*has_worked && poll(&wait, 1, IDLE_MS) == 0)
		malloc_trim(0);
	*has_worked = true;
}

void reader_loop_run(const struct reader_keeper *keeper, enum reader_lane lane)
{
	int socket_fd = keeper->lane_fds[lane];
	struct reader_packet packet;
	bool has_worked = false;

	while (clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) < MOST_CPU_NS) {
		_cleanup_close_ int fd = -1;
		ssize_t got;

		await_question(socket_fd, &has_worked);
		got = reader_receive(socket_fd, 0, &packet, &fd);
		if (got < (ssize_t)sizeof(packet.head.ask))
			return;
		__atomic_store_n(&keeper->board->lanes[lane].begun, packet.head.ask.sequence,
				 __ATOMIC_RELEASE);
		if (answer(keeper, socket_fd, &packet, (size_t)got, fd) < 0)
			return;
		__atomic_store_n(&keeper->board->lanes[lane].begun, 0, __ATOMIC_RELEASE);
	}
}
