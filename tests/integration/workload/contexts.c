// SPDX-License-Identifier: BSD-2-Clause
// ldflags: -pthread
/*
 * Publishes contexts of threads as OpenTelemetry defines them, with known truth.
 *
 *	contexts spin SECONDS [LIBRARY]
 *		two threads, each for so long on a CPU, 100,000 contexts a second: a context with
 *		the label route=rN is attached while spin_N() runs
 *	contexts requests COUNT [LIBRARY]
 *		one thread; a line "TRACE START_NS WALL_NS ROUTE" for each
 *	contexts sets COUNT
 *		as many values of the label
 *	contexts lies SECONDS KIND
 *		records that are none
 *
 * The variable is that of the program, of a library that it was linked with (-DLINKED), or of a
 * LIBRARY that it loads (-DLOADED).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef PR_SET_VMA_ANON_NAME
#define PR_SET_VMA_ANON_NAME 0
#endif

#define ROUTES 4
/* What the test's allow-list does not have. */
#define SECRET "never-seen"

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t size;
	uint8_t attributes[256];
} __attribute__((packed));

#if defined(LINKED)
extern void **context_variable(void);
#elif defined(LOADED)
#define context_variable NULL
#else
__thread void *otel_thread_ctx_v1 __attribute__((used, visibility("default")));
static void **context_variable(void)
{
	return &otel_thread_ctx_v1;
}
#endif

static void **(*variable)(void) = context_variable;
static atomic_ulong next_trace = 1;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- the process context ---- */

static uint8_t *put_bytes(uint8_t *at, int field, const void *bytes, size_t size)
{
	*at++ = (uint8_t)(field << 3 | 2);
	*at++ = (uint8_t)(size & 0x7f) | (size > 127 ? 0x80 : 0);
	if (size > 127)
		*at++ = (uint8_t)(size >> 7);
	memcpy(at, bytes, size);
	return at + size;
}

static uint8_t *put_attribute(uint8_t *at, const char *key, const uint8_t *value, size_t size)
{
	uint8_t inner[512], *end = put_bytes(inner, 1, key, strlen(key));

	end = put_bytes(end, 2, value, size);
	return put_bytes(at, 2, inner, (size_t)(end - inner));
}

static size_t write_message(uint8_t *message)
{
	static const char *const keys[] = {"user.id", "route"};
	uint8_t value[256], array[128], *end, *array_end = array, *to = message;

	end = put_bytes(value, 1, "tlsdesc_v1_dev", 14);
	to = put_attribute(to, "threadlocal.schema_version", value, (size_t)(end - value));
	for (int i = 0; i < 2; i++) {
		uint8_t text[32], *text_end = put_bytes(text, 1, keys[i], strlen(keys[i]));

		array_end = put_bytes(array_end, 1, text, (size_t)(text_end - text));
	}
	end = put_bytes(value, 5, array, (size_t)(array_end - array));
	to = put_attribute(to, "threadlocal.attribute_key_map", value, (size_t)(end - value));
	return (size_t)(to - message);
}

static void publish(void)
{
	struct header {
		char signature[8];
		uint32_t version, size;
		uint64_t published_ns, address;
	} * header;
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	uint8_t *message = malloc(1024);

	if (fd < 0 || ftruncate(fd, 4096) || !message)
		exit(1);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (header == MAP_FAILED)
		exit(1);
	close(fd);
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, header, 4096, "OTEL_CTX");
	header->version = 2;
	header->size = (uint32_t)write_message(message);
	header->address = (uint64_t)(uintptr_t)message;
	memcpy(header->signature, "OTEL_CTX", 8);
	atomic_thread_fence(memory_order_seq_cst);
	header->published_ns = now_ns();
}

/* ---- thread contexts ---- */

static void attach(struct record *record, const char *route)
{
	uint64_t number = atomic_fetch_add(&next_trace, 1), words[2] = {0x1122334455667788, number};
	size_t length = strlen(route);
	uint8_t *at = record->attributes;

	memcpy(record->trace, words, sizeof(words));
	memcpy(record->span, &number, sizeof(number));
	record->flags = 1;
	*at++ = 0;
	*at++ = sizeof(SECRET) - 1;
	memcpy(at, SECRET, sizeof(SECRET) - 1);
	at += sizeof(SECRET) - 1;
	*at++ = 1;
	*at++ = (uint8_t)length;
	memcpy(at, route, length);
	record->size = (uint16_t)(at + length - record->attributes);
	atomic_signal_fence(memory_order_seq_cst);
	record->valid = 1;
	atomic_signal_fence(memory_order_seq_cst);
	*variable() = record;
	atomic_signal_fence(memory_order_seq_cst);
}

static void detach(struct record *record)
{
	atomic_signal_fence(memory_order_seq_cst);
	*variable() = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	record->valid = 0;
}

#define SPIN(number)                                                                               \
	__attribute__((noinline)) void spin_##number(uint64_t until_ns)                            \
	{                                                                                          \
		for (volatile int i = 0; now_ns() < until_ns; i++)                                 \
			for (volatile int j = 0; j < 100; j++)                                     \
				;                                                                  \
	}
void spin_0(uint64_t until_ns), spin_1(uint64_t until_ns), spin_2(uint64_t until_ns),
	spin_3(uint64_t until_ns);
SPIN(0)
SPIN(1)
SPIN(2)
SPIN(3)

static void (*const spins[ROUTES])(uint64_t) = {spin_0, spin_1, spin_2, spin_3};
static uint64_t spin_ns;

/* Of CPU time, so that there are as many samples beside other load. */
static uint64_t used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void *spin_all(void *unused)
{
	static const char *const routes[ROUTES] = {"r0", "r1", "r2", "r3"};
	struct record records[2] = {0};
	unsigned long count = 0;

	(void)unused;
	for (; count % 64 || used_ns() < spin_ns; count++) {
		struct record *record = &records[count % 2];

		attach(record, routes[count % ROUTES]);
		spins[count % ROUTES](now_ns() + 10000);
		detach(record);
	}
	printf("%lu\n", count);
	return NULL;
}

static void spin(double seconds)
{
	pthread_t threads[2];

	spin_ns = (uint64_t)(seconds * 1e9);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, spin_all, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

/* ---- requests ---- */

static void rest(long us)
{
	nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static void serve(int count)
{
	struct record record = {0};

	for (int i = 0; i < count; i++) {
		char route[16];
		uint64_t begin_ns, wall_ns;

		snprintf(route, sizeof(route), "r%d", i % ROUTES);
		begin_ns = now_ns();
		attach(&record, route);
		spins[i % ROUTES](begin_ns + 500000 * (uint64_t)(i % 3));
		rest(1000 + 2000 * (i % 5));
		spins[i % ROUTES](now_ns() + 300000);
		detach(&record);
		wall_ns = now_ns() - begin_ns;
		for (size_t j = 0; j < sizeof(record.trace); j++)
			printf("%02x", record.trace[j]);
		printf(" %llu %llu %s\n", (unsigned long long)begin_ns, (unsigned long long)wall_ns,
		       route);
		/* A server waits for its next request. */
		rest(2000);
	}
}

/* The first request is over; the second one is not. */
static void hang(double seconds)
{
	struct record record = {0};

	serve(2);
	attach(&record, "stuck");
	for (int i = 0; i < 4; i++)
		rest(1000);
	usleep((useconds_t)(seconds * 1e6));
	detach(&record);
}

static void make_sets(int count)
{
	struct record record = {0};

	for (int i = 0; i < count; i++) {
		char route[32];

		snprintf(route, sizeof(route), "value-%d", i);
		attach(&record, route);
		rest(50);
		detach(&record);
		rest(50);
	}
}

/* ---- lies ---- */

static void lie(double seconds, const char *kind)
{
	static struct record record;
	uint64_t until_ns = now_ns() + (uint64_t)(seconds * 1e9);

	attach(&record, "lie");
	if (strcmp(kind, "long") == 0)
		record.size = UINT16_MAX;
	else if (strcmp(kind, "cycle") == 0)
		*(void **)record.attributes = &record;
	else if (strcmp(kind, "unmapped") == 0)
		*variable() = (void *)0x7fff00000000;
	else if (strcmp(kind, "kernel") == 0)
		*variable() = (void *)0xffffffff81000000;
	else if (strcmp(kind, "invalid") == 0)
		record.valid = 7;
	else if (strcmp(kind, "escape") == 0)
		attach(&record, "\033[31m;\"<b>\n");
	while (now_ns() < until_ns) {
		spin_0(now_ns() + 100000);
		rest(100);
	}
}

int main(int argc, char **argv)
{
	void *library = NULL;

	if (argc < 3)
		return 2;
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc > 3 && strcmp(argv[1], "lies") != 0) {
		library = dlopen(argv[3], RTLD_NOW);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&variable = dlsym(library, "context_variable");
	}
	publish();
	/* The profiler has found it. */
	if (getenv("CONTEXTS_WAIT"))
		usleep((useconds_t)atoi(getenv("CONTEXTS_WAIT")) * 1000);
	for (int i = 0; getenv("CONTEXTS_GO") && access(getenv("CONTEXTS_GO"), F_OK) && i < 12000;
	     i++)
		usleep(5000);
	if (strcmp(argv[1], "spin") == 0)
		spin(atof(argv[2]));
	else if (strcmp(argv[1], "requests") == 0)
		serve(atoi(argv[2]));
	else if (strcmp(argv[1], "hang") == 0)
		hang(atof(argv[2]));
	else if (strcmp(argv[1], "sets") == 0)
		make_sets(atoi(argv[2]));
	else
		lie(atof(argv[2]), argc > 3 ? argv[3] : "");
	return 0;
}
