// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of counts of a process. Its memory is asked for in pieces by fallocate(), since a page
 * of a full file system would end the program with SIGBUS; the file is opened by name for each
 * piece, since programs close descriptors that they do not know.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "preload/python_calls.h"

#define PIECE	    65536U
#define PATH_SIZE   4096
#define MOST_OF_PID 4096 /* programs that one process may execute */
#define FREE_ENOUGH (1ULL << 30)

struct area {
	uint32_t at, most, unit; /* offset in the file, rows, bytes of each */
	uint32_t ready;		 /* bytes that have memory */
};

enum { AREA_FUNCTIONS, AREA_EDGES, AREA_LINES, AREA_STRINGS, AREAS };

struct pkbpf_python_head *calls_head;
struct pkbpf_python_edge *calls_edges;
struct pkbpf_python_line *calls_lines;

static struct area areas[AREAS];
static char path[PATH_SIZE];

static int open_file(int flags)
{
	return open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static bool allocate(int fd, uint32_t at, uint32_t bytes)
{
	return fallocate(fd, 0, at, bytes) == 0;
}

/* Has memory for the row? */
static bool reserve(struct area *area, uint32_t row, uint32_t rows)
{
	uint32_t end = (row + rows) * area->unit;
	bool is_ready = true;

	if (rows > area->most || row > area->most - rows)
		return false;
	while (area->ready < end && is_ready) {
		int fd = open_file(0);

		is_ready = fd >= 0 && allocate(fd, area->at + area->ready, PIECE);
		if (fd >= 0)
			close(fd);
		if (is_ready)
			area->ready += PIECE;
	}
	return is_ready;
}

/* ---- the beginning ---- */

static char *put_text(char *to, const char *text, size_t length)
{
	memcpy(to, text, length);
	return to + length;
}

static char *put_number(char *to, uint32_t number)
{
	char digits[10];
	size_t count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		*to++ = digits[--count];
	return to;
}

/* A process may execute other programs, and pids may be those of another namespace. */
static int create(const char *directory, size_t length)
{
	static const char prefix[] = "/" PKBPF_PYTHON_CALLS_PREFIX;
	char *end;

	if (length + sizeof(prefix) + 32 > sizeof(path))
		return -1;
	end = put_text(path, directory, length);
	end = put_text(end, prefix, sizeof(prefix) - 1);
	end = put_number(end, (uint32_t)getpid());
	*end++ = '-';
	for (uint32_t i = 0; i < MOST_OF_PID; i++) {
		int fd;

		*put_number(end, i) = '\0';
		fd = open_file(O_CREAT | O_EXCL);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* Beyond the limit, ftruncate() sends a signal that ends the program. */
static bool may_be_as_large(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= PKBPF_PYTHON_FILE_BYTES;
}

/* Others need the memory too: a program that starts many processes must not fill it. */
static bool leaves_room(const struct statvfs *status)
{
	return status->f_bavail >= status->f_blocks / 4 ||
	       (uint64_t)status->f_bavail * status->f_frsize >= FREE_ENOUGH;
}

/* NULL: the file stays empty, and is counted as one that cannot be read. */
static void *map(int fd)
{
	struct statvfs status;
	void *bytes;

	if (fstatvfs(fd, &status) || !leaves_room(&status))
		return NULL;
	/* Readable for pkbpf whatever the umask is. */
	if (fchmod(fd, 0644) || ftruncate(fd, PKBPF_PYTHON_FILE_BYTES) || !allocate(fd, 0, PIECE))
		return NULL;
	bytes = mmap(NULL, PKBPF_PYTHON_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return bytes == MAP_FAILED ? NULL : bytes;
}

static void forget(void)
{
	if (calls_head)
		munmap(calls_head, PKBPF_PYTHON_FILE_BYTES);
	calls_head = NULL;
	calls_edges = NULL;
	calls_lines = NULL;
	areas[AREA_FUNCTIONS] = (struct area){.at = PKBPF_PYTHON_FUNCTIONS_AT,
					      .most = PKBPF_PYTHON_FUNCTIONS,
					      .unit = sizeof(struct pkbpf_python_function),
					      .ready = PIECE - PKBPF_PYTHON_FUNCTIONS_AT};
	areas[AREA_EDGES] = (struct area){.at = PKBPF_PYTHON_EDGES_AT,
					  .most = PKBPF_PYTHON_EDGES,
					  .unit = sizeof(struct pkbpf_python_edge)};
	areas[AREA_LINES] = (struct area){.at = PKBPF_PYTHON_LINES_AT,
					  .most = PKBPF_PYTHON_LINES,
					  .unit = sizeof(struct pkbpf_python_line)};
	areas[AREA_STRINGS] = (struct area){
		.at = PKBPF_PYTHON_STRINGS_AT, .most = PKBPF_PYTHON_STRINGS, .unit = 1};
}

bool calls_file_open(const char *directory, size_t directory_length, uint32_t version)
{
	char *bytes;
	int fd;

	forget();
	fd = may_be_as_large() ? create(directory, directory_length) : -1;
	if (fd < 0)
		return false;
	bytes = map(fd);
	close(fd);
	if (!bytes)
		return false;
	calls_head = (struct pkbpf_python_head *)bytes;
	calls_edges = (struct pkbpf_python_edge *)(bytes + PKBPF_PYTHON_EDGES_AT);
	calls_lines = (struct pkbpf_python_line *)(bytes + PKBPF_PYTHON_LINES_AT);
	/* Row 0 of edges is written to nowhere, and rows of others are. */
	calls_head->functions = calls_head->edges = calls_head->lines = calls_head->strings = 1;
	calls_head->pid = (uint32_t)getpid();
	calls_head->version = version;
	calls_head->state = PKBPF_PYTHON_LOADED;
	__atomic_store_n(&calls_head->magic, PKBPF_PYTHON_CALLS_MAGIC, __ATOMIC_RELEASE);
	return true;
}

/* ---- rows ---- */

static uint32_t new_rows(struct area *area, uint32_t *count, uint32_t rows)
{
	uint32_t row = *count;

	if (!reserve(area, row, rows))
		return 0;
	__atomic_store_n(count, row + rows, __ATOMIC_RELEASE);
	return row;
}

uint32_t calls_new_function(void)
{
	return new_rows(&areas[AREA_FUNCTIONS], &calls_head->functions, 1);
}

uint32_t calls_new_edge(void)
{
	return new_rows(&areas[AREA_EDGES], &calls_head->edges, 1);
}

uint32_t calls_new_line(void)
{
	return new_rows(&areas[AREA_LINES], &calls_head->lines, 1);
}

struct pkbpf_python_function *calls_function(uint32_t function)
{
	char *rows = (char *)calls_head + PKBPF_PYTHON_FUNCTIONS_AT;

	return (struct pkbpf_python_function *)rows + function;
}

uint32_t calls_put_string(const char *text, size_t length)
{
	uint32_t at = new_rows(&areas[AREA_STRINGS], &calls_head->strings, (uint32_t)length + 1);

	if (at)
		memcpy((char *)calls_head + PKBPF_PYTHON_STRINGS_AT + at, text, length);
	return at;
}
