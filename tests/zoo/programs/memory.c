// SPDX-License-Identifier: BSD-2-Clause
/* Programs and their memory. */
#include "planted.h"

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

static const struct mode modes[] = {
	{"leak", leak},		{"map_churn", map_churn},   {"madvise_churn", madvise_churn},
	{"sawtooth", sawtooth}, {"oom_victim", oom_victim},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
