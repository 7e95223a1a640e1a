/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that read files of targets for us: whoever takes over a parser there has no capability,
 * no network and no file but the one that was handed in. Its end costs the answer to one question.
 *
 *	pkbpf ── keeper ─┬─ reader (tables)
 *	                 ├─ reader (tables that need not wait for a slow one)
 *	                 ├─ reader (names)
 *	                 └─ reader (perf maps and jitdumps)
 *
 * The keeper is forked while the program is small and has one thread. It parses nothing: it starts
 * a reader with its first question, ends one that takes too long, and starts the next. All of them
 * end with the program, however that ends.
 *
 * Each lane has a reader and a lock of its own: questions of one lane wait for each other. All
 * functions may be called by any thread, but for start and stop.
 */
#ifndef PKBPF_READER_READERS_H
#define PKBPF_READER_READERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "reader/reader_service.h"

enum reader_lane {
	READER_TABLES = 0, /* of the thread that builds unwind tables */
	READER_TABLES_BESIDE = 1,
	READER_NAMES = 2,
	READER_CODE = 3, /* generated code, while samples come */
	READER_LANES,
};

/* What can be asked for; who starts readers says by which function each is answered. */
enum reader_service {
	READER_BUILDS_TABLE = 0,
	READER_NAMES_ADDRESSES = 1,
	READER_FORGETS_FILES = 2,
	READER_CUTS_CODE = 3,
	READER_FINDS_CONTEXT = 4,
	READER_READS_CONTEXT = 5,
	READER_NAMES_DATA = 6,
	READER_SERVICES,
};

struct readers;

/* Forks the keeper, so call it while the program has one thread and has not loaded anything, with
 * the rights that it has then. services: borrowed for good, READER_SERVICES of them, NULL: not
 * provided. -EPERM, -EINVAL…: no such process is to be had here; with the sentence. */
int readers_start(const reader_serve_fn *services, struct readers **ret_readers,
		  struct error *error);
/* Readers that answer no question, -EPIPE: for where none can be had. NULL: out of memory. */
struct readers *readers_none(void);
/* Ends all of them within seconds, also if they were stopped. NULL is fine. No question may be
 * under way. */
void readers_stop(struct readers *readers);
/* Gets what goes wrong. Borrowed; NULL: nobody. */
void readers_set_log(struct readers *readers, const struct log *log);

struct reader_question {
	enum reader_lane lane;
	enum reader_service service;
	int fd; /* borrowed */
	const void *bytes;
	size_t size;
	/* Opens a further file that the reader has described, and may be lying about, in at most
	 * READER_MAX_REQUEST_BYTES; called while the answer is awaited. Returns a descriptor, which
	 * is closed then, or a negative errno. NULL: there are none. */
	int (*open)(void *context, const void *bytes, size_t size);
	void *context;
	const char *name;      /* of the file, for what is said about it */
	uint64_t cpu_limit_ns; /* CPU time of the reader; it has READER_SLOWNESS times that to wait
				*/
};

/* How much longer than its CPU time an answer may take, on a machine that has other things to do.
 */
#define READER_SLOWNESS 10

struct reader_answer {
	/* read-only; nobody else can change them any more */
	const void *bytes;
	size_t size;
	void *owned, *mapping; /* private */
};

/* A question that is under way; it keeps its lane's lock, for the thread that has asked. */
struct reader_asked {
	const struct reader_question *question;
	uint64_t cpu_since_ns, begin_ns;
	uint32_t given; /* further files */
};

/* Sends a question (borrowed until there is an answer, but for its bytes), and does not wait.
 * Errors as those of readers_ask(). */
int readers_begin(struct readers *readers, const struct reader_question *question,
		  struct reader_asked *ret_asked);
/* -EAGAIN: there is no answer yet; else as readers_ask(), and the question is done with. */
int readers_look(struct readers *readers, struct reader_asked *asked,
		 struct reader_answer *ret_answer);
/* Nobody waits for its answer any more. */
void readers_drop(struct readers *readers, struct reader_asked *asked);
/* Sleeps until one of them has something to look at, or for timeout_ms. */
void readers_wait(struct readers *readers, const struct reader_asked *const *asked, size_t count,
		  int timeout_ms);

/*
 * Asks, and waits for the answer; the caller gives it back with reader_answer_done(). What is in it
 * was made by a process that may have been taken over: every index, count and offset is to be
 * checked. Negative errno of the service, as far as it is to be believed;
 * -EPIPE: the reader ended, or there are none any more; -ETIMEDOUT: it took too long; -EBADMSG: not
 * an answer. -ENOTCONN: readers is NULL: the file may be read here. Never the word of a reader.
 */
int readers_ask(struct readers *readers, const struct reader_question *question,
		struct reader_answer *ret_answer);
void reader_answer_done(struct reader_answer *answer);
/* Says that the bytes of an answer were none: its file is lost. */
void readers_reject(struct readers *readers, const struct reader_question *question);

/* A descriptor of a copy of bytes in memory, to be asked about; the caller closes it. */
int reader_memory_file(const void *bytes, size_t size);

/* Process id of the keeper, the parent of all others. NULL: 0. */
uint32_t readers_keeper(const struct readers *readers);
/* CPU time of all of them so far, also of those that have ended. NULL: 0. */
uint64_t readers_cpu_ns(struct readers *readers);
/* Bytes of memory that they have to themselves. NULL: 0. */
uint64_t readers_memory_bytes(struct readers *readers);

/* Files that were lost: their reader ended, took too long or answered nonsense. */
uint64_t readers_lost_files(struct readers *readers);

#endif
