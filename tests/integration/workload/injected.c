// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
// ldflags: -ldl -pthread
/*
 * A program that marks regions as the headers of NVTX 3 and of ittnotify 3 do: tables of functions
 * that are empty until a library, which an environment variable names, fills them. Written from the
 * interfaces' description; layouts as programs have them.
 *
 *	injected nvtx ROUNDS	pushed, started and registered ranges, each with a wait of 1 ms
 *	injected itt ROUNDS	tasks, overlapped tasks, frames
 *	injected small		a table of another version, with fewer functions
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static void *load(const char *variable)
{
	const char *path = getenv(variable);

	return path ? dlopen(path, RTLD_LAZY) : NULL;
}

/* ---- NVTX ---- */

typedef void function(void);

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

static function *core[16], *core2[16];
static function **core_table[17], **core2_table[17];
static unsigned int table_size = 16;

static int get_module(int module, function ****ret_table, unsigned int *ret_size)
{
	for (unsigned int i = 0; i < 16; i++) {
		core_table[i] = i ? &core[i] : NULL;
		core2_table[i] = i ? &core2[i] : NULL;
	}
	*ret_table = module == 1 ? core_table : core2_table;
	*ret_size = table_size;
	return module == 1 || module == 5;
}

static const void *get_table(uint32_t id)
{
	static struct {
		size_t size;
		int (*get_module)(int module, function ****ret_table, unsigned int *ret_size);
	} callbacks = {sizeof(callbacks), get_module};

	return id == 1 ? &callbacks : NULL;
}

static int start_nvtx(void)
{
	void *library = load("NVTX_INJECTION64_PATH");
	int (*init)(const void *(*)(uint32_t)) = NULL;

	if (library)
		*(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
	return init && init(get_table);
}

#define CALL(table, number, type, ...)                                                             \
	(table[number] ? ((type)(void *)table[number])(__VA_ARGS__)                                \
		       : (__typeof__(((type)0)(__VA_ARGS__)))0)

typedef int push_ex(const struct attributes *);
typedef int push_text(const char *);
typedef int push_wide(const wchar_t *);
typedef int pop(void);
typedef uint64_t start_text(const char *);
typedef void end_id(uint64_t);
typedef void *domain_create(const char *);
typedef int domain_push(void *, const struct attributes *);
typedef int domain_pop(void *);
typedef void *register_text(void *, const char *);

static uint64_t shared_id;

static void *end_elsewhere(void *unused)
{
	(void)unused;
	if (core[7])
		((end_id *)(void *)core[7])(shared_id);
	return NULL;
}

static void nvtx(int rounds)
{
	void *domain = CALL(core2, 12, domain_create *, "library");
	void *name = CALL(core2, 10, register_text *, domain, "registered");
	struct attributes text = {.version = 3, .size = 48, .message_type = 1, .message = "layer"},
			  handle = {.version = 3, .size = 48, .message_type = 3, .message = name};
	int levels = 0, wrong = 0;
	pthread_t thread;

	for (int i = 0; i < rounds; i++) {
		wrong += CALL(core, 9, push_text *, "train_step") != 0;
		wrong += CALL(core, 8, push_ex *, &text) != !!core[8];
		usleep(1000);
		wrong += CALL(core2, 4, domain_push *, domain, &handle) != 2 * !!core2[4];
		usleep(1000);
		CALL(core2, 5, domain_pop *, domain);
		levels += CALL(core, 11, pop *);
		CALL(core, 10, push_wide *, L"w\u00efde");
		CALL(core, 11, pop *);
		levels += CALL(core, 11, pop *);
		shared_id = CALL(core, 5, start_text *, "request");
		usleep(1000);
		pthread_create(&thread, NULL, end_elsewhere, NULL);
		pthread_join(thread, NULL);
	}
	printf("nvtx %d rounds, levels %s\n", rounds,
	       wrong || (core[11] && levels != rounds) ? "wrong" : "right");
}

/* ---- ITT ---- */

struct id {
	unsigned long long d1, d2, d3;
};

struct string {
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct string *next;
};

struct domain {
	volatile int flags;
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct domain *next;
};

static void *itt[9];

static struct api {
	const char *name;
	void **pointer;
	void *init, *null;
	int group;
} apis[] = {
	{"__itt_domain_create", &itt[0], NULL, NULL, 0},
	{"__itt_string_handle_create", &itt[1], NULL, NULL, 0},
	{"__itt_task_begin", &itt[2], NULL, NULL, 0},
	{"__itt_task_end", &itt[3], NULL, NULL, 0},
	{"__itt_task_begin_overlapped", &itt[4], NULL, NULL, 0},
	{"__itt_task_end_overlapped", &itt[5], NULL, NULL, 0},
	{"__itt_frame_begin_v3", &itt[6], NULL, NULL, 0},
	{"__itt_frame_end_v3", &itt[7], NULL, NULL, 0},
	{"__itt_pause", &itt[8], NULL, NULL, 0},
	{NULL, NULL, NULL, NULL, 0},
};

static struct {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long initialized, has_mutex, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct api *functions;
} state = {.major = 3, .functions = apis};

typedef struct domain *itt_domain(const char *);
typedef struct string *itt_string(const char *);
typedef void itt_begin(const struct domain *, struct id, struct id, struct string *);
typedef void itt_end(const struct domain *);
typedef void itt_end_id(const struct domain *, struct id);
typedef void itt_frame(const struct domain *, struct id *);

static void tasks(int rounds)
{
	void *library = load("INTEL_LIBITTNOTIFY64");
	void (*init)(void *, int) = NULL;
	struct id none = {0, 0, 0};
	struct domain *domain;
	struct string *outer, *inner;

	if (library)
		*(void **)&init = dlsym(library, "__itt_api_init");
	if (init)
		init(&state, -1);
	if (!itt[0]) {
		printf("itt alone\n");
		return;
	}
	domain = ((itt_domain *)itt[0])("oneDNN");
	outer = ((itt_string *)itt[1])("forward");
	inner = ((itt_string *)itt[1])("matmul");
	for (int i = 0; i < rounds && domain->flags; i++) {
		struct id id = {(unsigned long long)i, 7, 0};

		((itt_frame *)itt[6])(domain, NULL);
		((itt_begin *)itt[2])(domain, none, none, outer);
		((itt_begin *)itt[2])(domain, none, none, inner);
		usleep(1000);
		((itt_end *)itt[3])(domain);
		((itt_begin *)itt[4])(domain, id, none, inner);
		((itt_end *)itt[3])(domain);
		((itt_end_id *)itt[5])(domain, id);
		((itt_frame *)itt[7])(domain, NULL);
	}
	printf("itt alone\n");
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 10;

	if (argc > 1 && strcmp(argv[1], "itt") == 0) {
		tasks(rounds);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "small") == 0)
		table_size = 9;
	start_nvtx();
	if (table_size == 9) {
		/* Beyond the table nothing may have been written. */
		printf("beyond: %s\n", core[9] || core[11] || core2[10] ? "written" : "untouched");
		return 0;
	}
	nvtx(rounds);
	return 0;
}
