// SPDX-License-Identifier: BSD-2-Clause
/* Programs and their memory. */
#include "planted.h"

#include <sys/prctl.h>

static NOINLINE void *remember_session(void)
{
	char *session = malloc(40000);

	memset(session, 1, 40000);
	return session;
}

static NOINLINE void handle_request(void)
{
	static __attribute__((unused)) void *volatile last;

	last = remember_session();
	burn_us(100);
}

static void leak(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;) {
		handle_request();
		usleep(1000);
	}
}

/* ---- given back, touched again ---- */

static NOINLINE void render_frame(void)
{
	size_t size = 8 << 20;
	char *frame = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(frame, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		frame[i] = 1;
	munmap(frame, size);
}

static void map_churn(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;)
		render_frame();
}

static char *arena;

static NOINLINE void reset_arena(size_t size)
{
	madvise(arena, size, MADV_DONTNEED);
}

static NOINLINE void fill_arena(size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		arena[i] = 1;
}

static void madvise_churn(int argc, char **argv)
{
	size_t size = 16 << 20;

	(void)argc, (void)argv;
	arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(arena, size, MADV_NOHUGEPAGE);
	for (;;) {
		fill_arena(size);
		reset_arena(size);
	}
}

/* ---- collected and refilled every few seconds: nothing is wrong ---- */

static void sawtooth(int argc, char **argv)
{
	enum { PIECES = 300, PIECE = 256 << 10 };
	static char *pieces[PIECES];

	(void)argc, (void)argv;
	for (;;) {
		for (int i = 0; i < PIECES; i++) {
			pieces[i] = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memset(pieces[i], 1, PIECE);
			usleep(10000);
		}
		for (int i = 0; i < PIECES; i++)
			munmap(pieces[i], PIECE);
	}
}

/* ---- more than its cgroup may have ---- */

static NOINLINE void load_dataset(size_t size)
{
	char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < size; i += 4096) {
		data[i] = 1;
		if (i % (1 << 20) == 0)
			usleep(2000);
	}
}

static void oom_victim(int argc, char **argv)
{
	usleep(argc > 1 ? (useconds_t)atoi(argv[1]) : 1000000);
	load_dataset((size_t)1 << 30);
}

/* ---- malloc gives back what the next request needs again ---- */

static NOINLINE void build_reply(void)
{
	size_t size = 40 << 20; /* above the largest M_MMAP_THRESHOLD: a mapping of its own */
	volatile char *reply = malloc(size);

	for (size_t i = 0; i < size; i += 4096)
		reply[i] = 1;
	free((void *)reply);
}

static void malloc_churn(int argc, char **argv)
{
	(void)argc, (void)argv;
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	for (;;)
		build_reply();
}

/* ---- each snapshot is a copy of the process ---- */

static char *heap;

static NOINLINE void modify_heap(size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		heap[i]++;
}

static void fork_snapshot(int argc, char **argv)
{
	size_t size = 64 << 20;

	(void)argc, (void)argv;
	heap = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(heap, size, MADV_NOHUGEPAGE);
	modify_heap(size);
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			usleep(30000);
			_exit(0);
		}
		modify_heap(size);
		waitpid(child, NULL, 0);
	}
}

/* ---- reads more of a file than its cgroup may keep ---- */

static NOINLINE uint64_t look_up(const volatile unsigned char *map, size_t size)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return map[(seed >> 20) % size];
}

static void thrash(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "data", O_RDONLY);
	uint64_t found = 0;
	struct stat status;
	unsigned char *map;

	if (fd < 0 || fstat(fd, &status))
		exit(2);
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		exit(2);
	for (;;)
		found += look_up(map, (size_t)status.st_size);
}

static const struct mode modes[] = {
	{"leak", leak},
	{"map_churn", map_churn},
	{"madvise_churn", madvise_churn},
	{"sawtooth", sawtooth},
	{"oom_victim", oom_victim},
	{"malloc_churn", malloc_churn},
	{"fork_snapshot", fork_snapshot},
	{"thrash", thrash},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
