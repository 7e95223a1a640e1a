// SPDX-License-Identifier: BSD-2-Clause
// Leaves functions and regions in every way that probes on returns break, in 200 threads, until its
// standard input ends; then says which ways were right each time. usage: ways_out LIBRARY [WAY…];
// ways_out leaf
#include <pkbpf/pkbpf.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP()	 __asm__ volatile("" ::: "memory")

static std::atomic<bool> done;
static const char *library;

NOINLINE int leaf(int value)
{
	KEEP();
	return value + 1;
}

struct guard {
	int *count;
	explicit guard(int *at) : count(at)
	{
	}
	~guard()
	{
		++*count;
	}
};

/* ---- exceptions: through frames with and without destructors ---- */

NOINLINE int throws(int value)
{
	PKBPF_REGION("throws");

	if (value % 2)
		throw std::runtime_error("x");
	return leaf(value);
}

NOINLINE int passes(int value, int *destroyed)
{
	guard here(destroyed);

	return throws(value) + 1;
}

NOINLINE bool exceptions()
{
	int destroyed = 0, caught = 0;

	for (int i = 0; i < 20; i++) {
		try {
			passes(i, &destroyed);
		} catch (const std::exception &) {
			caught++;
		}
	}
	return destroyed == 20 && caught == 10;
}

/* ---- coroutines: two in one function at once ---- */

struct pair {
	ucontext_t outside, inside[2];
	int sum;
};
static thread_local pair *current;

NOINLINE void swaps(int number)
{
	pair *both = current;

	both->sum += number + 1;
	swapcontext(&both->inside[number], number ? &both->outside : &both->inside[1]);
	KEEP();
}

static void coroutine(int number)
{
	for (int i = 0; i < 10; i++)
		swaps(number);
}

NOINLINE bool coroutines()
{
	static thread_local char stacks[2 * 65536]; // no new memory: probes wait for whoever maps some
	pair both = {};

	current = &both;
	for (int i = 0; i < 2; i++) {
		getcontext(&both.inside[i]);
		both.inside[i].uc_stack.ss_sp = &stacks[(size_t)i * 65536];
		both.inside[i].uc_stack.ss_size = 65536;
		both.inside[i].uc_link = &both.outside;
		makecontext(&both.inside[i], (void (*)(void))coroutine, 1, i);
	}
	for (int i = 0; i < 10; i++)
		swapcontext(&both.outside, &both.inside[0]);
	return both.sum == 30;
}

/* ---- longjmp: out of some frames ---- */

NOINLINE void jumps(jmp_buf *out, int depth)
{
	if (!depth)
		longjmp(*out, 1);
	jumps(out, depth - 1);
	KEEP();
}

NOINLINE bool longjmps()
{
	jmp_buf out;
	volatile int left = 0;

	for (volatile int i = 0; i < 20; i++) {
		if (setjmp(out) == 0)
			jumps(&out, i % 4);
		else
			left++;
	}
	return left == 20;
}

/* ---- sigaltstack: a handler on another stack, which returns or jumps out ---- */

static thread_local volatile int handled;
static thread_local sigjmp_buf out_of_handler;

NOINLINE void handles()
{
	handled = leaf(handled);
	if (handled % 3 == 0)
		siglongjmp(out_of_handler, 1);
	KEEP();
}

static void handler(int)
{
	handles();
}

NOINLINE bool alternate_stacks()
{
	static thread_local char room[65536];
	stack_t stack = {}, none = {};
	volatile int jumped = 0;

	stack.ss_sp = room;
	stack.ss_size = sizeof(room);
	sigaltstack(&stack, nullptr);
	handled = 0;
	for (volatile int i = 0; i < 21; i++) {
		if (sigsetjmp(out_of_handler, 1) == 0)
			pthread_kill(pthread_self(), SIGUSR1);
		else
			jumped++;
	}
	none.ss_flags = SS_DISABLE;
	sigaltstack(&none, nullptr);
	return handled == 21 && jumped == 7;
}

/* ---- vfork, and exec in the child ---- */

NOINLINE bool vforks()
{
	char *const arguments[] = {(char *)"ways_out", (char *)"leaf", nullptr};
	int status, right = 0;
	pid_t child = vfork();

	if (child == 0)
		_exit(leaf(5));
	right += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		 WEXITSTATUS(status) == 6;
	child = vfork();
	if (child == 0) {
		execv("/proc/self/exe", arguments);
		_exit(1);
	}
	right += waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		 WEXITSTATUS(status) == 7;
	return right == 2;
}

/* ---- threads that end in functions: cancelled, and by pthread_exit() ---- */

NOINLINE void waits(int *destroyed)
{
	guard here(destroyed);
	PKBPF_REGION("waits");

	for (;;)
		pause();
}

static void *waiter(void *destroyed)
{
	waits((int *)destroyed);
	return nullptr;
}

NOINLINE void ends(int *destroyed)
{
	guard here(destroyed);

	pthread_exit(nullptr);
}

static void *ender(void *destroyed)
{
	ends((int *)destroyed);
	return nullptr;
}

NOINLINE bool cancels()
{
	int destroyed = 0;
	pthread_t thread;

	pthread_create(&thread, nullptr, waiter, &destroyed);
	usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	pthread_create(&thread, nullptr, ender, &destroyed);
	pthread_join(thread, nullptr);
	/* One that is cancelled before its first instruction has nothing to destroy. */
	return destroyed == 2 || destroyed == 1;
}

/* ---- a library that comes and goes ---- */

NOINLINE bool libraries()
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*work)(int) = handle ? (int (*)(int))dlsym(handle, "library_work") : nullptr;
	bool right = work && work(3) == 12;

	if (handle)
		dlclose(handle);
	return right;
}

static const struct {
	const char *name;
	bool (*once)();
	unsigned int rest_ms; // dear ones are rare, for the sake of what else runs on the machine
} ways[] = {
	{"exceptions", exceptions, 100}, {"coroutines", coroutines, 100},
	{"longjmps", longjmps, 100},	{"alternate_stacks", alternate_stacks, 200},
	{"vforks", vforks, 1000},	{"cancels", cancels, 1000},
	{"libraries", libraries, 1000},
};
#define WAYS (sizeof(ways) / sizeof(*ways))
static std::atomic<unsigned> right[WAYS], wrong[WAYS];

static void repeat(size_t way, unsigned int number)
{
	unsigned int rest_ms = ways[way].rest_ms;

	do {
		(ways[way].once() ? right : wrong)[way]++;
		usleep((rest_ms + number % 16 * rest_ms / 16) * 1000); // not all at once
	} while (!done);
}

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	struct sigaction action = {};
	std::vector<std::thread> threads;
	char byte;

	if (argc < 2 || strcmp(argv[1], "leaf") == 0)
		return leaf(6);
	library = argv[1];
	action.sa_handler = handler;
	action.sa_flags = SA_ONSTACK | SA_RESTART;
	sigaction(SIGUSR1, &action, nullptr);
	while (threads.size() < 200)
		for (size_t way = 0; way < WAYS; way++)
			if (wanted(ways[way].name, argc, argv))
				threads.emplace_back(repeat, way, (unsigned int)threads.size());
	while (read(0, &byte, 1) > 0)
		;
	done = true;
	for (auto &thread : threads)
		thread.join();
	for (size_t way = 0; way < WAYS; way++)
		if (wanted(ways[way].name, argc, argv))
			printf("%s: %s\n", ways[way].name,
			       wrong[way]   ? "wrong"
			       : right[way] ? "right"
					    : "never");
	return 5;
}
