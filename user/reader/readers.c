// SPDX-License-Identifier: BSD-2-Clause
/* The program's side: asks readers, and judges whether what comes back is an answer. */
#include "reader/readers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "reader/reader_fault.h"
#include "reader/reader_keeper.h"
#include "reader/readers_private.h"

/* How often CPU time is looked at while an answer is awaited. */
#define LOOK_MS 100
/* How long the keeper may take to end: it has nothing to wait for but its readers. */
#define STOP_WAIT_NS (2 * NS_PER_SECOND)
#define STOP_LOOK_MS 1
/* How long the keeper may take to start a reader, or to say that it has ended one. */
#define KEEPER_WAIT_NS	(5 * NS_PER_SECOND)
#define MAX_ERRNO	4095
#define STATM_MAX_BYTES 4096
/* Split debug information has one for each unit, of which those are asked for that names need. */
#define MAX_FURTHER_FILES 4096
/* What is lost is told one by one up to here. */
#define MAX_WARNINGS 8

/* ---- the processes ---- */

static void free_readers(struct readers *readers)
{
	for (int i = 0; i < READER_LANES; i++) {
		if (readers->lanes[i].fd >= 0)
			close(readers->lanes[i].fd);
		pthread_mutex_destroy(&readers->lanes[i].lock);
	}
	if (readers->control_fd >= 0)
		close(readers->control_fd);
	if (readers->board)
		munmap(readers->board, sizeof(*readers->board));
	free(readers);
}

static struct readers *new_readers(struct reader_keeper *keeper)
{
	struct readers *readers = calloc(1, sizeof(*readers));
	int ends[2];

	if (!readers)
		return NULL;
	readers->control_fd = keeper->control_fd = -1;
	for (int i = 0; i < READER_LANES; i++) {
		readers->lanes[i].fd = keeper->lane_fds[i] = -1;
		pthread_mutex_init(&readers->lanes[i].lock, NULL);
	}
	readers->board = mmap(NULL, sizeof(*readers->board), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (readers->board == MAP_FAILED) {
		readers->board = NULL;
		goto fail;
	}
	keeper->board = readers->board;
	for (int i = -1; i < READER_LANES; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
			goto fail;
		*(i < 0 ? &readers->control_fd : &readers->lanes[i].fd) = ends[0];
		*(i < 0 ? &keeper->control_fd : &keeper->lane_fds[i]) = ends[1];
	}
	return readers;
fail:
	for (int i = 0; i < READER_LANES; i++)
		if (keeper->lane_fds[i] >= 0)
			close(keeper->lane_fds[i]);
	if (keeper->control_fd >= 0)
		close(keeper->control_fd);
	free_readers(readers);
	return NULL;
}

/* 0, or why there are none. */
static int await_start(struct readers *readers)
{
	struct reader_packet packet;
	int fd, result;
	ssize_t got = reader_receive(readers->control_fd, 0, &packet, &fd);

	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)sizeof(result))
		return got < 0 ? (int)got : -EPIPE;
	memcpy(&result, &packet, sizeof(result));
	return result;
}

/* Without handlers: the program's own would believe to be in it. */
static pid_t fork_keeper(const struct reader_keeper *keeper)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		reader_keeper_run(keeper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

struct readers *readers_none(void)
{
	struct reader_keeper keeper = {.services = NULL};
	struct readers *readers = new_readers(&keeper);

	if (!readers)
		return NULL;
	close(keeper.control_fd);
	for (int i = 0; i < READER_LANES; i++)
		close(keeper.lane_fds[i]);
	readers->is_gone = true;
	return readers;
}

int readers_start(const reader_serve_fn *services, struct readers **ret_readers,
		  struct error *error)
{
	struct reader_keeper keeper = {.services = services, .parent = getpid()};
	struct readers *readers = new_readers(&keeper);
	int err = readers ? 0 : -errno;

	if (!err) {
		readers->keeper = fork_keeper(&keeper);
		err = readers->keeper < 0 ? -errno : 0;
		close(keeper.control_fd);
		for (int i = 0; i < READER_LANES; i++)
			close(keeper.lane_fds[i]);
	}
	if (!err)
		err = await_start(readers);
	if (err) {
		readers_stop(readers);
		return error_set(error, -err, "cannot start processes without rights: %s",
				 strerror(-err));
	}
	*ret_readers = readers;
	return 0;
}

/* One that was stopped by a signal does not end by itself; its readers end with it. */
static void await_end(pid_t keeper)
{
	const struct timespec pause = {.tv_nsec = STOP_LOOK_MS * NS_PER_MS};
	uint64_t until_ns = clock_now_ns() + STOP_WAIT_NS;

	while (waitpid(keeper, NULL, WNOHANG) == 0) {
		if (clock_now_ns() >= until_ns) {
			kill(keeper, SIGKILL);
			until_ns = UINT64_MAX;
		}
		nanosleep(&pause, NULL);
	}
}

void readers_stop(struct readers *readers)
{
	if (!readers)
		return;
	/* Its own end of it is closed: the keeper ends, and its readers with it. */
	shutdown(readers->control_fd, SHUT_RDWR);
	if (readers->keeper > 0)
		await_end(readers->keeper);
	free_readers(readers);
}

void readers_set_log(struct readers *readers, const struct log *log)
{
	if (readers)
		readers->log = log;
}

/* ---- what they use ---- */

uint32_t readers_keeper(const struct readers *readers)
{
	return readers ? (uint32_t)readers->keeper : 0;
}

/* CPU time of a process; 0: there is none. */
static uint64_t reader_cpu_ns(pid_t pid)
{
	clockid_t clock;
	struct timespec time;

	if (pid <= 0 || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static pid_t pid_of(const struct readers *readers, int lane)
{
	return __atomic_load_n(&readers->board->lanes[lane].pid, __ATOMIC_ACQUIRE);
}

uint64_t readers_cpu_ns(struct readers *readers)
{
	uint64_t used_ns, most_ns;

	if (!readers)
		return 0;
	used_ns = __atomic_load_n(&readers->board->ended_cpu_ns, __ATOMIC_ACQUIRE) +
		  reader_cpu_ns(readers->keeper);
	for (int i = 0; i < READER_LANES; i++)
		used_ns += reader_cpu_ns(pid_of(readers, i));
	/* One that has just ended is in neither sum: never less than was said before. */
	most_ns = __atomic_load_n(&readers->most_cpu_ns, __ATOMIC_RELAXED);
	if (used_ns < most_ns)
		return most_ns;
	__atomic_store_n(&readers->most_cpu_ns, used_ns, __ATOMIC_RELAXED);
	return used_ns;
}

/* Resident pages without those of files. What was forked with the program, and has not been written
 * to since, counts here and there. */
static uint64_t memory_of(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	char path[32], *end;
	uint64_t resident, shared;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (pid <= 0 || file_read_all(AT_FDCWD, path, STATM_MAX_BYTES, &text, &size))
		return 0;
	strtoull(text, &end, 10);
	resident = strtoull(end, &end, 10);
	shared = strtoull(end, &end, 10);
	return resident > shared ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

uint64_t readers_memory_bytes(struct readers *readers)
{
	uint64_t bytes;

	if (!readers)
		return 0;
	bytes = memory_of(readers->keeper);
	for (int i = 0; i < READER_LANES; i++)
		bytes += memory_of(pid_of(readers, i));
	return bytes;
}

uint64_t readers_lost_files(struct readers *readers)
{
	return readers ? __atomic_load_n(&readers->lost, __ATOMIC_RELAXED) : 0;
}

/* ---- questions ---- */

static void note_loss(struct readers *readers, const struct reader_question *question,
		      const char *what)
{
	uint64_t lost = __atomic_add_fetch(&readers->lost, 1, __ATOMIC_RELAXED);
	const char *name = question->name ? question->name : "a file";

	if (lost <= MAX_WARNINGS)
		log_warning(readers->log, "%s is not read: the process that read it %s", name,
			    what);
	if (lost == MAX_WARNINGS)
		log_warning(readers->log, "further files that cannot be read are not listed");
}

/* Only our own user can have done that, or a lack of memory. Their files are not read here instead:
 * that would be with all rights. */
static int note_end_of_all(struct readers *readers)
{
	if (!__atomic_exchange_n(&readers->is_gone, true, __ATOMIC_RELAXED))
		log_warning(readers->log,
			    "the processes that read files of targets were killed: functions of "
			    "files not read yet have no names, and stacks through them may be "
			    "truncated; start pkbpf again");
	__atomic_add_fetch(&readers->lost, 1, __ATOMIC_RELAXED);
	return -EPIPE;
}

/* A keeper that does nothing, as when it was stopped, would have each file wait for its limit. */
static int end_all(struct readers *readers)
{
	if (readers->keeper > 0)
		kill(readers->keeper, SIGKILL);
	return note_end_of_all(readers);
}

static bool has_no_reader(const struct readers *readers, const struct reader_asked *asked)
{
	return !pid_of(readers, asked->question->lane) &&
	       clock_now_ns() - asked->begin_ns > KEEPER_WAIT_NS;
}

static int send_question(struct lane *lane, const struct reader_question *question)
{
	struct reader_ask ask = {
		.sequence = ++lane->sequence,
		.service = question->service,
		.fault = (uint32_t)reader_fault_of(question->name),
	};
	struct iovec bytes = {(void *)question->bytes, question->size};

	return reader_send(lane->fd, &ask, sizeof(ask), &bytes, question->size ? 1 : 0,
			   question->fd);
}

static bool is_out_of_time(const struct readers *readers, const struct reader_asked *asked)
{
	const struct reader_question *question = asked->question;
	uint64_t limit_ns =
		reader_fault_limit_ns(reader_fault_of(question->name), question->cpu_limit_ns);

	return reader_cpu_ns(pid_of(readers, question->lane)) > asked->cpu_since_ns + limit_ns ||
	       clock_now_ns() - asked->begin_ns > READER_SLOWNESS * limit_ns;
}

/* The reader waits for it, as long as it is no more than a sound one could want. */
static int give_file(struct lane *lane, const struct reader_question *question,
		     const struct reader_packet *packet, size_t size)
{
	struct reader_give give = {.sequence = lane->sequence, .result = -EPERM};
	size_t head = sizeof(packet->head.tell);
	_cleanup_close_ int fd = -1;

	if (question->open && size - head <= READER_MAX_REQUEST_BYTES) {
		fd = question->open(question->context, (const char *)packet + head, size - head);
		give.result = fd < 0 ? fd : 0;
	}
	return reader_send(lane->fd, &give, sizeof(give), NULL, 0, fd);
}

/* The next message about this question; older ones are about questions that were given up. */
static ssize_t receive(struct lane *lane, struct reader_packet *packet, int *ret_fd)
{
	for (;;) {
		ssize_t got = reader_receive(lane->fd, MSG_DONTWAIT, packet, ret_fd);

		if (got <= 0 || (got >= (ssize_t)sizeof(packet->head.tell) &&
				 packet->head.tell.sequence == lane->sequence))
			return got;
		if (*ret_fd >= 0)
			close(*ret_fd);
	}
}

/* Has the reader ended that does not answer, and waits until it has. */
static int give_up(struct readers *readers, const struct reader_question *question)
{
	struct lane *lane = &readers->lanes[question->lane];
	struct reader_order order = {.lane = question->lane, .sequence = lane->sequence};
	struct pollfd wait = {.fd = lane->fd, .events = POLLIN};
	uint64_t until_ns = clock_now_ns() + KEEPER_WAIT_NS;
	struct reader_packet packet;
	ssize_t got = -EAGAIN;
	int fd;

	if (reader_send(readers->control_fd, &order, sizeof(order), NULL, 0, -1) < 0)
		return note_end_of_all(readers);
	while (got == -EAGAIN && clock_now_ns() < until_ns) {
		if (poll(&wait, 1, LOOK_MS) <= 0)
			continue;
		got = receive(lane, &packet, &fd);
		if (got > 0 && fd >= 0)
			close(fd);
	}
	if (got == -EAGAIN)
		return end_all(readers);
	if (got == 0)
		return note_end_of_all(readers);
	note_loss(readers, question, "took too long");
	return -ETIMEDOUT;
}

/* Takes over fd. The file cannot change any more, and is as large as it is said to be. */
int reader_answer_map(int fd, uint64_t size, struct reader_answer *ret_answer)
{
	const int wanted = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
	_cleanup_close_ int file_fd = fd;
	struct stat status;
	int seals = fcntl(file_fd, F_GET_SEALS);
	void *mapping;

	if (seals < 0 || (seals & wanted) != wanted || fstat(file_fd, &status) < 0 ||
	    !S_ISREG(status.st_mode) || size > READER_MAX_REPLY_BYTES || size == 0 ||
	    status.st_size < 0 || (uint64_t)status.st_size != size)
		return -EBADMSG;
	/* All of it is read, once. */
	mapping = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file_fd, 0);
	if (mapping == MAP_FAILED)
		return -errno;
	*ret_answer = (struct reader_answer){.bytes = mapping, .size = size, .mapping = mapping};
	return 0;
}

/* Takes over fd (-1: none). */
int reader_answer_take(const struct reader_packet *packet, size_t size, int fd,
		       struct reader_answer *ret_answer)
{
	_cleanup_close_ int file_fd = fd;
	const struct reader_tell *tell = &packet->head.tell;
	void *copy;

	if (size < sizeof(*tell) || tell->kind != READER_ANSWERS || tell->result > 0 ||
	    tell->result < -MAX_ERRNO || tell->result == -ENOTCONN || tell->result == -EAGAIN)
		return -EBADMSG;
	if (tell->result < 0)
		return tell->result;
	if (file_fd >= 0)
		return reader_answer_map(take_fd(file_fd), tell->size, ret_answer);
	if (tell->size != size - sizeof(*tell))
		return -EBADMSG;
	copy = malloc((size_t)tell->size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, (const char *)packet + sizeof(*tell), (size_t)tell->size);
	*ret_answer =
		(struct reader_answer){.bytes = copy, .size = (size_t)tell->size, .owned = copy};
	return 0;
}

/* Answers a request for a file. */
static int look_at_want(struct readers *readers, struct reader_asked *asked,
			const struct reader_packet *packet, size_t size)
{
	struct lane *lane = &readers->lanes[asked->question->lane];
	int err;

	if (asked->given++ == MAX_FURTHER_FILES)
		return give_up(readers, asked->question);
	err = give_file(lane, asked->question, packet, size);
	if (err == -EPIPE || err == -ECONNRESET)
		return note_end_of_all(readers);
	return err ? err : -EAGAIN;
}

static int look_at_silence(struct readers *readers, const struct reader_asked *asked)
{
	if (has_no_reader(readers, asked))
		return end_all(readers);
	return is_out_of_time(readers, asked) ? give_up(readers, asked->question) : -EAGAIN;
}

static int look(struct readers *readers, struct reader_asked *asked,
		struct reader_answer *ret_answer)
{
	const struct reader_question *question = asked->question;
	struct reader_packet packet;
	int fd = -1, err;
	ssize_t got = receive(&readers->lanes[question->lane], &packet, &fd);

	if (got == -EAGAIN)
		return look_at_silence(readers, asked);
	if (got == 0 || got == -ECONNRESET || got == -EPIPE)
		return note_end_of_all(readers);
	if (got > 0 && packet.head.tell.kind == READER_ANSWERS) {
		err = reader_answer_take(&packet, (size_t)got, fd, ret_answer);
	} else {
		if (fd >= 0)
			close(fd);
		if (got > 0 && packet.head.tell.kind == READER_WANTS)
			return look_at_want(readers, asked, &packet, (size_t)got);
		if (got > 0 && packet.head.tell.kind == READER_ENDED) {
			note_loss(readers, question, "has ended");
			return -EPIPE;
		}
		err = got < 0 ? (int)got : -EBADMSG;
	}
	if (err == -EBADMSG)
		note_loss(readers, question, "answered nonsense");
	return err;
}

int readers_begin(struct readers *readers, const struct reader_question *question,
		  struct reader_asked *ret_asked)
{
	struct lane *lane;
	int err;

	if (!readers)
		return -ENOTCONN;
	if (__atomic_load_n(&readers->is_gone, __ATOMIC_RELAXED))
		return note_end_of_all(readers);
	if (question->size > READER_MAX_REQUEST_BYTES)
		return -E2BIG;
	lane = &readers->lanes[question->lane];
	pthread_mutex_lock(&lane->lock);
	*ret_asked = (struct reader_asked){
		.question = question,
		.cpu_since_ns = reader_cpu_ns(pid_of(readers, question->lane)),
		.begin_ns = clock_now_ns(),
	};
	err = send_question(lane, question);
	if (err == -EPIPE || err == -ECONNRESET)
		err = note_end_of_all(readers);
	if (err)
		pthread_mutex_unlock(&lane->lock);
	return err;
}

int readers_look(struct readers *readers, struct reader_asked *asked,
		 struct reader_answer *ret_answer)
{
	int err;

	*ret_answer = (struct reader_answer){0};
	err = look(readers, asked, ret_answer);
	if (err != -EAGAIN)
		pthread_mutex_unlock(&readers->lanes[asked->question->lane].lock);
	return err;
}

void readers_drop(struct readers *readers, struct reader_asked *asked)
{
	pthread_mutex_unlock(&readers->lanes[asked->question->lane].lock);
}

void readers_wait(struct readers *readers, const struct reader_asked *const *asked, size_t count,
		  int timeout_ms)
{
	struct pollfd waits[READER_LANES];

	if (count > READER_LANES)
		count = READER_LANES;
	for (size_t i = 0; i < count; i++)
		waits[i] = (struct pollfd){.fd = readers->lanes[asked[i]->question->lane].fd,
					   .events = POLLIN};
	poll(waits, count, timeout_ms);
}

int readers_ask(struct readers *readers, const struct reader_question *question,
		struct reader_answer *ret_answer)
{
	struct reader_asked asked;
	const struct reader_asked *const all[] = {&asked};
	int err;

	*ret_answer = (struct reader_answer){0};
	err = readers_begin(readers, question, &asked);
	if (err)
		return err;
	while ((err = readers_look(readers, &asked, ret_answer)) == -EAGAIN)
		readers_wait(readers, all, 1, LOOK_MS);
	return err;
}

void readers_reject(struct readers *readers, const struct reader_question *question)
{
	if (readers)
		note_loss(readers, question, "answered nonsense");
}

void reader_answer_done(struct reader_answer *answer)
{
	free(answer->owned);
	if (answer->mapping)
		munmap(answer->mapping, answer->size);
	*answer = (struct reader_answer){0};
}

int reader_memory_file(const void *bytes, size_t size)
{
	_cleanup_close_ int fd = memfd_create("pkbpf-image", MFD_CLOEXEC);
	int err = fd < 0 ? -errno : file_write_all(fd, bytes, size);

	return err ? err : take_fd(fd);
}
