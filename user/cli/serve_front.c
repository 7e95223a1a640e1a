// SPDX-License-Identifier: BSD-2-Clause
/* Both ends of the connection between the collector and the front. */
#include "cli/serve_front.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_io.h"
#include "base/hash_map.h"
#include "capture/kernel/syscall_filter.h"
#include "cli/serve_alerts.h"
#include "cli/serve_config.h"
#include "cli/serve_objectives.h"
#include "cli/serve_parcel.h"
#include "cli/serve_push.h"
#include "cli/serve_user.h"
#include "cli/serve_watch.h"
#include "recording/slice_codec.h"
#include "web/web.h"

/* Room for some dozens of messages: a machine that starves the front for minutes loses no slice.
 * One that is farther behind is better left behind. */
#define SEND_BUFFER_BYTES 16384
#define STORE_WAIT_MS	  5000
/* What ends beside the store has so long. */
#define END_SECONDS 3
#define TRIM_NS	    (5 * 60 * NS_PER_SECOND)
#define DAY	    (86400 * NS_PER_SECOND)

/* From the front, once: it answers, or why not. */
struct greeting {
	int err;
	uint16_t port;
	bool is_root, lacks_filter;
	struct error error;
};

/* ---- the front ---- */

static int drop_capabilities(struct error *error)
{
	cap_t none = cap_init();
	int err = 0;

	if (!none || cap_set_proc(none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		err = error_set(error, errno, "cannot drop the capabilities of the front: %s",
				strerror(errno));
	cap_free(none);
	return err;
}

/* The commands of notifiers inherit it. */
static int confine(struct greeting *greeting)
{
	int err = drop_capabilities(&greeting->error);

	if (err == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		err = error_set(&greeting->error, errno, "cannot confine the front: %s",
				strerror(errno));
	if (err == 0)
		greeting->lacks_filter = syscall_filter_load_front() < 0;
	return err;
}

struct front {
	const struct serve_front_options *options;
	struct store *store;
	struct web *web;
	struct serve_alerts *alerts;
	struct serve_push push;
	struct serve_objectives objectives;
	struct serve_watch *watch;
	int socket;		     /* of the collector */
	_Atomic(uint64_t) stored_ns; /* end of the last slice, CLOCK_MONOTONIC; 0: none */
	bool lacks_descriptors;	     /* it was said */
	int64_t trimmed_period;	     /* of TRIM_NS, since 1970 */
	bool has_jumped;	     /* the clock; it was said */
};

static void note_slice(struct front *front, const struct profile *slice)
{
	const struct profile_info *info = profile_info_read(slice);
	const struct resource_rows *rows;
	struct results results;

	results_init(&results, slice, ROWS_BY_CONTAINER);
	/* Without memory metrics lack it. */
	if (results_rows(&results, &rows) == 0)
		web_note_slice(front->web, rows);
	results_done(&results);
	atomic_store(&front->stored_ns, info->end_ns);
}

/* What a minute, ten of them or an hour took lies all over the heap, between what is still used. To
 * give it back takes 15 ms, a tenth of what serve may cost on two CPUs if it is done each minute.
 */
static void give_back_memory(struct front *front, int64_t end_unix_ns)
{
	int64_t period = end_unix_ns / (int64_t)TRIM_NS;

	if (period == front->trimmed_period)
		return;
	front->trimmed_period = period;
	malloc_trim(0);
}

/* Once for each jump. */
static void tell_jump(struct front *front)
{
	struct store_state state;
	bool jumped;

	store_get_state(front->store, &state);
	jumped = state.ahead_ns != 0;
	if (jumped && !front->has_jumped)
		console_error(
			front->options->console,
			"the clock is %.1f days %s the history: windows are not deleted by age "
			"until the age limits have followed it",
			(double)llabs(state.ahead_ns) / (double)DAY,
			state.ahead_ns > 0 ? "ahead of" : "behind");
	front->has_jumped = jumped;
}

static void add_block(struct front *front, const struct recording_block *block)
{
	struct recording_sections sections = recording_block_sections(block);
	const struct profile_info *info;
	int64_t end_unix_ns;
	struct profile *slice;

	if (slice_decode(block, NULL, &slice) < 0) {
		web_note_dropped(front->web, 1);
		return;
	}
	/* What could not be written is in the store's state, which metrics and /readyz tell. */
	store_add(front->store, slice, &sections);
	tell_jump(front);
	note_slice(front, slice);
	info = profile_info_read(slice);
	end_unix_ns = info->start_unix_ns + (int64_t)(info->end_ns - info->start_ns);
	serve_watch_add(front->watch, slice);
	give_back_memory(front, end_unix_ns);
}

static void take_slice(struct front *front, int fd)
{
	struct recording_reader reader;
	struct recording_block block;
	struct error error;

	if (recording_reader_open(&reader, fd, &error) < 0)
		return;
	if (reader.blocks.count && recording_reader_read(&reader, 0, &block) == 0) {
		add_block(front, &block);
		recording_block_done(&block);
	} else {
		web_note_dropped(front->web, 1);
	}
	recording_reader_done(&reader);
}

/* ---- beside the storing ---- */

static void note_behind(void *context, const struct resource_rows *rows)
{
	struct front *front = context;

	serve_alerts_note(front->alerts, rows);
}

static void look(void *context, const struct resource_rows *rows)
{
	const struct profile_info *info = profile_info_read(rows->profile);
	struct front *front = context;

	serve_alerts_add(front->alerts, rows);
	serve_objectives_note(&front->objectives,
			      info->start_unix_ns + (int64_t)(info->end_ns - info->start_ns));
}

static void tick(void *context)
{
	struct front *front = context;

	serve_alerts_tick(front->alerts);
}

static void configure(void *context, const char *text)
{
	struct front *front = context;

	web_note_config(front->web,
			serve_alerts_configure(front->alerts, text) == 0 &&
				serve_push_configure(&front->push, front->web, text) == 0 &&
				serve_objectives_configure(&front->objectives, text) == 0);
}

static void end_watch(void *context)
{
	struct front *front = context;

	serve_alerts_end(front->alerts);
}

static void say(void *context, const char *sentence)
{
	struct front *front = context;

	console_error(front->options->console, "%s", sentence);
}

static void write_metrics(void *context, FILE *out)
{
	struct front *front = context;
	uint64_t stored_ns = atomic_load(&front->stored_ns);

	serve_push_write_metrics(&front->push, out);
	fprintf(out,
		"# HELP pkbpf_front_waiting_slices slices that are still to be stored\n"
		"# TYPE pkbpf_front_waiting_slices gauge\npkbpf_front_waiting_slices %zu\n",
		serve_parcels_waiting(front->socket));
	if (stored_ns)
		fprintf(out,
			"# HELP pkbpf_last_slice_age_seconds since the end of the last slice that "
			"was "
			"stored\n# TYPE pkbpf_last_slice_age_seconds gauge\n"
			"pkbpf_last_slice_age_seconds %.3f\n",
			(double)(clock_now_ns() - stored_ns) / 1e9);
	serve_watch_write_metrics(front->watch, out);
}

static int start_answering(struct front *front, struct web_options *web, struct error *error)
{
	const struct serve_front_options *options = front->options;
	struct serve_alerts_options alerts = {
		.store = front->store,
		.store_path = options->store,
		.config = options->config,
		.listen = options->listen,
		.port = web->port,
		.console = options->console,
	};
	const struct serve_watch_ops watch = {note_behind, look, tick, configure,
					      end_watch,   say,	 front};
	int err = serve_alerts_new(&alerts, &front->alerts, error);

	if (err < 0)
		return err;
	serve_push_init(&front->push, options->console, front->store);
	web->alerts = serve_alerts_state(front->alerts);
	web->more_metrics = write_metrics;
	web->context = front;
	serve_objectives_init(&front->objectives, options->console, front->store, options->listen,
			      web->port);
	/* It was checked. */
	if (serve_objectives_configure(&front->objectives, options->config) < 0)
		console_error(options->console, "no objectives: out of memory");
	web->write_objectives = serve_objectives_write;
	web->objectives = &front->objectives;
	front->watch = serve_watch_start(&watch);
	if (!front->watch)
		return error_set(error, ENOMEM, "cannot watch for alerts: out of memory");
	err = web_start(web, front->store, &front->web, error);
	if (err == 0 && serve_push_configure(&front->push, front->web, options->config) < 0)
		console_error(options->console, "nothing is pushed: out of memory");
	return err;
}

static int open_all(struct front *front, struct greeting *greeting)
{
	const struct serve_front_options *options = front->options;
	char path[32];
	struct store_options store = {
		.path = path,
		.title = options->store,
		.max_bytes = options->store_bytes,
		.wait_ms = STORE_WAIT_MS,
	};
	struct web_options web = {.token = options->token,
				  .open_metrics = options->open_metrics,
				  .slice_ns = options->slice_ns};
	_cleanup_close_ int store_fd = -1;
	int err = web_listen(options->listen, options->token != NULL, &web.socket, &web.port,
			     &greeting->error);

	if (err < 0)
		return err;
	greeting->port = web.port;
	store_fd = serve_user_become(options->run_as, options->store, &greeting->is_root,
				     &greeting->error);
	/* The user that it is now may not search all folders on the way. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", store_fd);
	err = store_fd < 0 ? store_fd : confine(greeting);
	err = err < 0 ? err : store_open(&store, &front->store, &greeting->error);
	if (err < 0) {
		close(web.socket);
		return err;
	}
	return start_answering(front, &web, &greeting->error);
}

static void take_config(struct front *front, int fd)
{
	char path[32], *text;
	size_t size;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (file_read_all(AT_FDCWD, path, SERVE_CONFIG_MAX_BYTES, &text, &size) < 0)
		return;
	serve_watch_configure(front->watch, text);
}

/* The descriptor has not come with it. */
static void lose_parcel(struct front *front, const struct serve_parcel *parcel)
{
	if (parcel->kind == SERVE_PARCEL_SLICE)
		web_note_dropped(front->web, 1);
	else
		web_note_config(front->web, false);
	if (!front->lacks_descriptors)
		say(front, "too many files are open in the front: slices are missing in the "
			   "history; raise its limit (ulimit -n, LimitNOFILE)");
	front->lacks_descriptors = true;
}

static void take_parcel(struct front *front, const struct serve_parcel *parcel, int fd)
{
	if (parcel->dropped)
		web_note_dropped(front->web, parcel->dropped);
	web_note_detail(front->web, parcel->detail_step);
	if (fd < 0) {
		lose_parcel(front, parcel);
		return;
	}
	switch (parcel->kind) {
	case SERVE_PARCEL_SLICE:
		take_slice(front, fd);
		break;
	case SERVE_PARCEL_CONFIG:
		take_config(front, fd);
		break;
	case SERVE_PARCEL_BAD_CONFIG:
		web_note_config(front->web, false);
		break;
	}
}

/* All is stored: answers, messages and rules that are under way are given up. */
static void *end_in_time(void *context)
{
	const struct timespec wait = {.tv_sec = END_SECONDS};

	nanosleep(&wait, NULL);
	say(context, "all slices are stored; what was under way beside that (answers, messages, "
		     "alert rules) is given up");
	_exit(0);
}

static void end_front(struct front *front)
{
	pthread_t thread;

	store_finish(front->store);
	if (pthread_create(&thread, NULL, end_in_time, front) == 0)
		pthread_detach(thread);
	serve_watch_end(front->watch);
	serve_push_end(&front->push);
	web_stop(front->web);
	serve_watch_free(front->watch);
	serve_push_done(&front->push);
	serve_objectives_done(&front->objectives);
	serve_alerts_free(front->alerts);
	store_close(front->store);
}

static int run_front(const struct serve_front_options *options, int socket)
{
	struct front front = {.options = options, .socket = socket};
	struct greeting greeting = {0};
	struct serve_parcel parcel;
	int fd;

	greeting.err = open_all(&front, &greeting);
	if (send(socket, &greeting, sizeof(greeting), MSG_NOSIGNAL) < 0 || greeting.err < 0)
		return 1;
	while ((fd = serve_parcel_receive(socket, &parcel)) != -EPIPE) {
		take_parcel(&front, &parcel, fd);
		if (fd >= 0)
			close(fd);
	}
	end_front(&front);
	return 0;
}

/* ---- the collector ---- */

static int hear_greeting(struct serve_front *front, struct error *error)
{
	struct greeting greeting;
	ssize_t size;

	do {
		size = recv(front->socket, &greeting, sizeof(greeting), 0);
	} while (size < 0 && errno == EINTR);
	if (size != (ssize_t)sizeof(greeting))
		return error_set(error, EPIPE, "the front ended while it started");
	front->port = greeting.port;
	front->is_root = greeting.is_root;
	front->lacks_filter = greeting.lacks_filter;
	if (greeting.err < 0)
		*error = greeting.error;
	return greeting.err;
}

int serve_front_start(const struct serve_front_options *options, struct serve_front *ret_front,
		      struct error *error)
{
	struct serve_front front = {.secret = hash_random_seed()};
	int ends[2], size = SEND_BUFFER_BYTES, err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set(error, errno, "cannot connect the front: %s", strerror(errno));
	front.pid = fork();
	if (front.pid < 0) {
		err = errno;
		close(ends[0]);
		close(ends[1]);
		return error_set(error, err, "cannot start the front: %s", strerror(err));
	}
	if (front.pid == 0) {
		close(ends[0]);
		prctl(PR_SET_NAME, "pkbpf-front");
		_exit(run_front(options, ends[1]));
	}
	close(ends[1]);
	front.socket = ends[0];
	setsockopt(front.socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	err = hear_greeting(&front, error);
	if (err < 0) {
		close(front.socket);
		waitpid(front.pid, NULL, 0);
		return err;
	}
	*ret_front = front;
	return 0;
}

static int write_slice(struct serve_front *front, const struct profile *slice, FILE *out)
{
	_cleanup_(recording_sections_done) struct recording_sections sections = {0};
	_cleanup_(recording_writer_done) struct recording_writer writer = {0};
	struct recording_span span = slice_span(slice);
	int err = slice_encode(slice, front->secret, &sections);

	err = err ? err : recording_writer_begin(&writer, out, span.begin_unix_ns);
	err = err ? err : recording_writer_add(&writer, &span, &sections);
	return err ? err : recording_writer_end(&writer);
}

static int send_descriptor(struct serve_front *front, enum serve_parcel_kind kind, int fd)
{
	struct serve_parcel parcel = {kind, front->detail_step, front->dropped};
	int err = serve_parcel_send(front->socket, &parcel, fd);

	if (err == 0)
		front->dropped = 0;
	return err;
}

int serve_front_send(struct serve_front *front, const struct profile *slice)
{
	int fd = memfd_create("pkbpf-slice", MFD_CLOEXEC), copy, err;
	FILE *out;

	if (fd < 0) {
		front->dropped++;
		return -errno;
	}
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	err = out ? write_slice(front, slice, out) : -ENOMEM;
	if (out && fclose(out) == EOF && err == 0)
		err = -EIO;
	else if (!out && copy >= 0)
		close(copy);
	if (err == 0)
		err = send_descriptor(front, SERVE_PARCEL_SLICE, fd);
	front->dropped += err < 0;
	close(fd);
	return err;
}

int serve_front_configure(struct serve_front *front, const char *text)
{
	int fd = memfd_create("pkbpf-config", MFD_CLOEXEC), err;
	size_t size = text ? strlen(text) : 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text ? text : "", size) != (ssize_t)size)
		err = -ENOMEM;
	else
		err = send_descriptor(front, text ? SERVE_PARCEL_CONFIG : SERVE_PARCEL_BAD_CONFIG,
				      fd);
	close(fd);
	return err;
}

uint64_t serve_front_cpu_ns(const struct serve_front *front)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(front->pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * NS_PER_SECOND + (uint64_t)used.tv_nsec;
}

int serve_front_stop(struct serve_front *front)
{
	int status = 0;

	close(front->socket);
	while (waitpid(front->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPIPE;
}
