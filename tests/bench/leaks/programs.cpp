// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs with a leak, and healthy ones whose memory grows, shrinks and turns over: each is one
 * function that is called fifty times a second.
 *
 *	programs NAME SECONDS		runs one; what leaks is allocated below leak_NAME()
 *	programs			prints the names, leaks first, "+" before those that leak
 */
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#define PLACE __attribute__((noinline)) static

static unsigned long tick, ticks_in_all;
static double part; /* of the run that is over */

static unsigned long chance(unsigned long below)
{
	static unsigned long state = 88172645463325252UL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* So that no call becomes a jump, and no allocation is left out. */
static void *keep(void *block)
{
	__asm__ volatile("" : "+r"(block)::"memory");
	return block;
}

static void *filled(size_t size)
{
	return memset(keep(malloc(size)), 1, size);
}

/* ---- leaks, 100 to 400 KiB per second ---- */

PLACE void leak_small() { for (int i = 0; i < 60; i++) filled(64 + chance(100)); }
PLACE void leak_pages() { filled(4096); }
PLACE void leak_blocks() { if (tick % 50 == 0) filled(200000); }
PLACE void leak_megabytes() { if (tick % 200 == 0) filled(1 << 20); }
PLACE void leak_calloc() { for (int i = 0; i < 10; i++) memset(keep(calloc(3, 150)), 1, 450); }
PLACE void leak_strdup() { std::string text(500, 'x'); for (int i = 0; i < 8; i++) keep(strdup(text.c_str())); }
PLACE void leak_aligned() { memset(keep(aligned_alloc(64, 4096)), 1, 4096); }
PLACE void leak_realloc() { void *block = filled(100); for (int i = 0; i < 5; i++) block = keep(realloc(block, 1000u * (i + 1))); }
PLACE void leak_new() { for (int i = 0; i < 20; i++) memset(keep(new char[220]), 1, 220); }

/* Of all that it allocates one in twenty stays. */
PLACE void leak_mixed()
{
	static std::deque<void *> blocks;

	for (int i = 0; i < 60; i++) {
		void *block = filled(1000 + chance(500));

		if (chance(20))
			blocks.push_back(block);
		if (blocks.size() > 300) {
			free(blocks.front());
			blocks.pop_front();
		}
	}
}

/* Beside much more that is freed, of the same size, elsewhere. */
PLACE void leak_slowly() { filled(3000); }
static void work_slowly()
{
	for (int i = 0; i < 200; i++)
		free(filled(3000));
	leak_slowly();
}

PLACE void leak_bursts() { if (tick % 250 == 0) for (int i = 0; i < 500; i++) filled(1000); }
PLACE void leak_with_load() { for (unsigned long i = 0; i < (part < .5 ? 4UL : 8UL); i++) filled(1000); }
PLACE void leak_with_pauses() { if (tick / 250 % 2) for (int i = 0; i < 8; i++) filled(1000); }
PLACE void leak_deep(int depth = 30) { if (depth) { leak_deep(depth - 1); keep(nullptr); } else filled(5000); }

PLACE void leak_beside_cache() { filled(4000); }
static void work_beside_cache()
{
	static void *cache[2000];
	size_t slot = chance(2000);

	free(cache[slot]);
	cache[slot] = filled(3000);
	leak_beside_cache();
}

PLACE void leak_in_thread() { filled(6000); }
static void work_in_thread()
{
	std::thread([] { leak_in_thread(); }).join();
}

PLACE void leak_in_threads() { filled(2000); }
static void work_in_threads()
{
	static bool runs;

	for (int i = 0; !runs && i < 4; i++)
		std::thread([] { for (;;) { leak_in_threads(); usleep(40000); } }).detach();
	runs = true;
}

PLACE void leak_in_child() { filled(4000); }
static void work_in_child()
{
	for (unsigned long i = 0; i < ticks_in_all && !tick; i++) {
		if (!i && fork()) {
			wait(nullptr);
			exit(0);
		}
		leak_in_child();
		usleep(20000);
	}
	exit(0);
}

/* Freed by another thread, but for some. */
PLACE void leak_handed_over()
{
	static std::vector<void *> blocks;

	for (int i = 0; i < 10; i++)
		blocks.push_back(filled(2000));
	if (tick % 25)
		return;
	std::thread([] { for (size_t i = 0; i < blocks.size(); i++) if (i % 5) free(blocks[i]); }).join();
	blocks.clear();
}

PLACE void leak_map() { static std::map<std::string, std::string> map; for (int i = 0; i < 8; i++) map[std::to_string(chance(1UL << 60))] = std::string(300, 'v'); }
PLACE void leak_hash() { static std::unordered_map<unsigned long, std::string> map; for (int i = 0; i < 8; i++) map[chance(1UL << 60)] = std::string(400, 'v'); }
PLACE void leak_list() { static std::list<std::vector<int>> list; list.emplace_back(1000); }

struct node {
	std::shared_ptr<node> other;
	char payload[2000];
};
PLACE void leak_cycle()
{
	auto a = std::make_shared<node>(), b = std::make_shared<node>();

	a->other = b;
	b->other = a;
}

PLACE void leak_callbacks()
{
	static std::vector<std::function<size_t()>> callbacks;
	std::string held(3000, 'c');

	callbacks.push_back([held] { return held.size(); });
}

/* In a plugin that is opened when it runs. */
static void work_plugin()
{
	static void (*leak)(void);

	if (!leak) {
		void *plugin = dlopen(getenv("LEAKS_PLUGIN"), RTLD_NOW);

		leak = plugin ? reinterpret_cast<void (*)(void)>(dlsym(plugin, "leak_plugin")) : nullptr;
		if (!leak)
			exit(1);
	}
	leak();
}

/* ---- healthy ---- */

/* Fills in the first half of the run and stays. */
static void fill_cache() { static std::map<unsigned long, std::string> cache; if (part < .4) for (int i = 0; i < 8; i++) cache[chance(1UL << 60)] = std::string(500, 'v'); }
/* Fills in the first half, then something goes for whatever comes. */
static void turn_over()
{
	static std::vector<void *> cache;

	for (int i = 0; i < 10; i++) {
		if (cache.size() < ticks_in_all * 10 * 4 / 10) {
			cache.push_back(filled(500));
		} else {
			size_t slot = chance(cache.size());

			free(cache[slot]);
			cache[slot] = filled(500);
		}
	}
}
/* First in, first out. */
static void fifo()
{
	static std::deque<void *> cache;

	for (int i = 0; i < 10; i++)
		cache.push_back(filled(1000));
	while (cache.size() > 3000) {
		free(cache.front());
		cache.pop_front();
	}
}
static void pool() { static std::vector<void *> pool; while (pool.size() < 5000) pool.push_back(filled(2000)); free(filled(2000)); }
/* A queue that is long, and short. */
static void queue()
{
	static std::deque<void *> waiting;
	size_t wanted = tick / 200 % 2 ? 2000 : 200;

	for (int i = 0; i < 20; i++)
		waiting.push_back(filled(1500));
	while (waiting.size() > wanted) {
		free(waiting.front());
		waiting.pop_front();
	}
}
/* More and more clients, each for as long as ever. */
static void growing_load()
{
	static std::deque<void *> clients;
	static std::deque<unsigned long> until;
	unsigned long more = 2 + tick * 20 / ticks_in_all;

	while (!until.empty() && until.front() <= tick) {
		free(clients.front());
		clients.pop_front();
		until.pop_front();
	}
	for (unsigned long i = 0; i < more; i++) {
		clients.push_back(filled(1000));
		until.push_back(tick + 300);
	}
}
/* Builds something up and throws it away. */
static void batches()
{
	static std::vector<void *> batch;

	for (int i = 0; i < 30; i++)
		batch.push_back(filled(1000));
	if (tick % 350 == 349) {
		for (void *block : batch)
			free(block);
		batch.clear();
	}
}
static void churn() { for (int i = 0; i < 300; i++) free(filled(100 + chance(4000))); }
/* A buffer that doubles when it has to. */
static void growing_buffer() { static std::string text; text.append(1000, 'x'); }
/* Each for as long as it likes. */
static void sessions()
{
	static std::multimap<unsigned long, void *> sessions; /* by the tick at which they end */

	for (int i = 0; i < 5; i++)
		sessions.emplace(tick + chance(1000), filled(900));
	while (!sessions.empty() && sessions.begin()->first <= tick) {
		free(sessions.begin()->second);
		sessions.erase(sessions.begin());
	}
}

static const struct {
	const char *name;
	void (*run)();
	bool leaks;
} programs[] = {
	{"small", leak_small, true},		 {"pages", leak_pages, true},
	{"blocks", leak_blocks, true},		 {"megabytes", leak_megabytes, true},
	{"calloc", leak_calloc, true},		 {"strdup", leak_strdup, true},
	{"aligned", leak_aligned, true},	 {"realloc", leak_realloc, true},
	{"new", leak_new, true},		 {"mixed", leak_mixed, true},
	{"slowly", work_slowly, true},		 {"bursts", leak_bursts, true},
	{"with_load", leak_with_load, true},	 {"with_pauses", leak_with_pauses, true},
	{"deep", [] { leak_deep(); }, true},	 {"beside_cache", work_beside_cache, true},
	{"in_thread", work_in_thread, true},	 {"in_threads", work_in_threads, true},
	{"in_child", work_in_child, true},	 {"handed_over", leak_handed_over, true},
	{"map", leak_map, true},		 {"hash", leak_hash, true},
	{"list", leak_list, true},		 {"cycle", leak_cycle, true},
	{"callbacks", leak_callbacks, true},	 {"plugin", work_plugin, true},
	{"fill_cache", fill_cache, false},	 {"turn_over", turn_over, false},
	{"fifo", fifo, false},			 {"pool", pool, false},
	{"queue", queue, false},		 {"growing_load", growing_load, false},
	{"batches", batches, false},		 {"churn", churn, false},
	{"growing_buffer", growing_buffer, false}, {"sessions", sessions, false},
};

int main(int argc, char **argv)
{
	struct timespec begin;

	if (argc < 3) {
		for (const auto &program : programs)
			printf("%c%s\n", program.leaks ? '+' : '-', program.name);
		return 0;
	}
	ticks_in_all = static_cast<unsigned long>(atoi(argv[2])) * 50;
	for (const auto &program : programs) {
		if (strcmp(program.name, argv[1]))
			continue;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (tick = 0; tick < ticks_in_all; tick++) {
			struct timespec next = begin;

			next.tv_sec += static_cast<time_t>(tick / 50);
			next.tv_nsec += static_cast<long>(tick % 50) * 20000000;
			next.tv_sec += next.tv_nsec / 1000000000;
			next.tv_nsec %= 1000000000;
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
			part = static_cast<double>(tick) / static_cast<double>(ticks_in_all);
			program.run();
		}
		return 0;
	}
	return 2;
}
