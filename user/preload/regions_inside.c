// SPDX-License-Identifier: BSD-2-Clause
/*
 * Regions of programs that mark them with NVTX or ITT. Their headers load this library when the
 * program first marks something, if an environment variable names it; it hands each mark on to the
 * stubs of pkbpf.h, which cost nothing unless pkbpf looks.
 *
 * Layouts and numbers are those of the two interfaces' public headers (NVTX 3, ittnotify 3). No
 * memory of the program is kept but names, and these only where a handle stands for one.
 */
#include <pkbpf/pkbpf.h>

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define EXPORTED  __attribute__((visibility("default")))
#define NAME_SIZE 64 /* with its NUL, as much as is read of a name */

/* ---- names ---- */

/* What is not ASCII is a question mark. */
static void narrow(char narrowed[NAME_SIZE], const wchar_t *wide)
{
	size_t i = 0;

	for (; wide && wide[i] && i < NAME_SIZE - 1; i++)
		narrowed[i] = wide[i] > 0 && wide[i] < 0x7f ? (char)wide[i] : '?';
	narrowed[i] = '\0';
}

static const char *name_or(const char *name, const char *otherwise)
{
	return name && *name ? name : otherwise;
}

/* Strings that programs register live as long as they do; equal ones are kept once by their
 * callers, who have few. */
static char *keep(const char *name)
{
	return strndup(name_or(name, "?"), NAME_SIZE - 1);
}

static unsigned long next_id(void)
{
	static unsigned long last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* ---- NVTX ---- */

enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };

struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

_Static_assert(sizeof(struct nvtx_attributes) == 48, "as programs have it");

typedef void nvtx_function(void);

struct nvtx_callbacks {
	size_t size;
	int (*get_module)(int module, nvtx_function ***ret_table, unsigned int *ret_size);
};

/* A string that was registered: handles are pointers to it. */
struct registered {
	char *name;
};

static const char *message_of(const struct nvtx_attributes *attributes, char narrowed[NAME_SIZE])
{
	if (!attributes || attributes->size < sizeof(*attributes) || !attributes->message)
		return "nvtx";
	switch (attributes->message_type) {
	case NVTX_MESSAGE_ASCII:
		return name_or(attributes->message, "nvtx");
	case NVTX_MESSAGE_WIDE:
		narrow(narrowed, attributes->message);
		return name_or(narrowed, "nvtx");
	case NVTX_MESSAGE_REGISTERED:
		return ((const struct registered *)attributes->message)->name;
	default:
		return "nvtx";
	}
}

/* How deep the thread is in pushed ranges: what push and pop have to return. */
static __thread int depth;

static int push(const char *name)
{
	pkbpf_enter(name, 0);
	return depth++;
}

static int nvtx_pop(void)
{
	pkbpf_leave();
	return depth > 0 ? --depth : -1;
}

static int nvtx_push(const struct nvtx_attributes *attributes)
{
	char narrowed[NAME_SIZE];

	return push(message_of(attributes, narrowed));
}

static int nvtx_push_text(const char *name)
{
	return push(name_or(name, "nvtx"));
}

static int nvtx_push_wide(const wchar_t *name)
{
	char narrowed[NAME_SIZE];

	narrow(narrowed, name);
	return push(name_or(narrowed, "nvtx"));
}

static uint64_t begin(const char *name)
{
	unsigned long id = next_id();

	pkbpf_begin(name, id, 0);
	return id;
}

static uint64_t nvtx_start(const struct nvtx_attributes *attributes)
{
	char narrowed[NAME_SIZE];

	return begin(message_of(attributes, narrowed));
}

static uint64_t nvtx_start_text(const char *name)
{
	return begin(name_or(name, "nvtx"));
}

static uint64_t nvtx_start_wide(const wchar_t *name)
{
	char narrowed[NAME_SIZE];

	narrow(narrowed, name);
	return begin(name_or(narrowed, "nvtx"));
}

static void nvtx_end(uint64_t id)
{
	pkbpf_end((unsigned long)id);
}

/* Domains keep the regions of libraries apart; here they nest as they are called. */
static int nvtx_domain_push(const void *domain, const struct nvtx_attributes *attributes)
{
	(void)domain;
	return nvtx_push(attributes);
}

static int nvtx_domain_pop(const void *domain)
{
	(void)domain;
	return nvtx_pop();
}

static uint64_t nvtx_domain_start(const void *domain, const struct nvtx_attributes *attributes)
{
	(void)domain;
	return nvtx_start(attributes);
}

static void nvtx_domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	nvtx_end(id);
}

static struct registered *nvtx_register(const void *domain, const char *name)
{
	struct registered *registered = malloc(sizeof(*registered));

	(void)domain;
	if (!registered)
		return NULL;
	registered->name = keep(name);
	if (!registered->name) {
		free(registered);
		return NULL;
	}
	return registered;
}

static struct registered *nvtx_register_wide(const void *domain, const wchar_t *name)
{
	char narrowed[NAME_SIZE];

	narrow(narrowed, name);
	return nvtx_register(domain, narrowed);
}

/* Programs only hand it back. */
static const void *nvtx_domain(const void *name)
{
	static const char domain;

	(void)name;
	return &domain;
}

struct hook {
	unsigned int number; /* in its module's table */
	nvtx_function *function;
};

#define HOOK(number, function)                                                                     \
	{                                                                                          \
		(number), (nvtx_function *)(void *)(function)                                      \
	}

static const struct hook core[] = {
	HOOK(4, nvtx_start), HOOK(5, nvtx_start_text), HOOK(6, nvtx_start_wide), HOOK(7, nvtx_end),
	HOOK(8, nvtx_push),  HOOK(9, nvtx_push_text),  HOOK(10, nvtx_push_wide), HOOK(11, nvtx_pop),
};
static const struct hook core2[] = {
	HOOK(2, nvtx_domain_start), HOOK(3, nvtx_domain_end), HOOK(4, nvtx_domain_push),
	HOOK(5, nvtx_domain_pop),   HOOK(10, nvtx_register),  HOOK(11, nvtx_register_wide),
	HOOK(12, nvtx_domain),	    HOOK(13, nvtx_domain),
};

/* Other versions have shorter or longer tables: what they lack is not set. */
static void set_hooks(const struct nvtx_callbacks *callbacks, int module, const struct hook *hooks,
		      size_t count)
{
	nvtx_function ***table = NULL;
	unsigned int size = 0;

	if (!callbacks->get_module(module, (nvtx_function ***)&table, &size) || !table)
		return;
	for (size_t i = 0; i < count; i++)
		if (hooks[i].number < size && table[hooks[i].number])
			*(nvtx_function **)table[hooks[i].number] = hooks[i].function;
}

/* By its name and with this prototype, once for each file of the program that has the header. */
EXPORTED int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t table));

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t table))
{
	const struct nvtx_callbacks *callbacks = get_table ? get_table(NVTX_TABLE_CALLBACKS) : NULL;

	if (!callbacks || callbacks->size < sizeof(*callbacks) || !callbacks->get_module)
		return 0;
	set_hooks(callbacks, NVTX_MODULE_CORE, core, sizeof(core) / sizeof(core[0]));
	set_hooks(callbacks, NVTX_MODULE_CORE2, core2, sizeof(core2) / sizeof(core2[0]));
	return 1;
}

/* ---- ITT ---- */

struct itt_id {
	unsigned long long d1, d2, d3;
};

struct itt_string {
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_domain {
	volatile int flags; /* 0: nothing of it is called */
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_function {
	const char *name; /* NULL: the end */
	void **pointer;
	void *init, *null;
	int group;
};

/* The part of the program's state that has the same place in all versions 3. */
struct itt_state {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long initialized, has_mutex, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_function *functions;
};

static const char *text_of(const struct itt_string *string)
{
	return string ? name_or(string->name, "itt") : "itt";
}

/* A name has one handle: programs ask for it where they need it, also in loops. The lists only
 * grow, at their heads, so that they can be read without the lock. */
static pthread_mutex_t itt_lock = PTHREAD_MUTEX_INITIALIZER;
static struct itt_domain *itt_domains;
static struct itt_string *itt_strings;

static struct itt_domain *find_domain(const char *name)
{
	struct itt_domain *domain = __atomic_load_n(&itt_domains, __ATOMIC_ACQUIRE);

	while (domain && strcmp(name_or(domain->name, ""), name) != 0)
		domain = domain->next;
	return domain;
}

static struct itt_string *find_string(const char *name)
{
	struct itt_string *string = __atomic_load_n(&itt_strings, __ATOMIC_ACQUIRE);

	while (string && strcmp(name_or(string->name, ""), name) != 0)
		string = string->next;
	return string;
}

static struct itt_domain *itt_domain_create(const char *name)
{
	struct itt_domain *domain = find_domain(name_or(name, ""));

	if (domain)
		return domain;
	pthread_mutex_lock(&itt_lock);
	domain = find_domain(name_or(name, ""));
	if (!domain && (domain = calloc(1, sizeof(*domain)))) {
		domain->name = keep(name);
		domain->flags = 1;
		domain->next = itt_domains;
		__atomic_store_n(&itt_domains, domain, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&itt_lock);
	return domain;
}

static struct itt_string *itt_string_create(const char *name)
{
	struct itt_string *string = find_string(name_or(name, ""));

	if (string)
		return string;
	pthread_mutex_lock(&itt_lock);
	string = find_string(name_or(name, ""));
	if (!string && (string = calloc(1, sizeof(*string)))) {
		string->name = keep(name);
		string->next = itt_strings;
		__atomic_store_n(&itt_strings, string, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&itt_lock);
	return string;
}

static void itt_task_begin(const struct itt_domain *domain, struct itt_id task,
			   struct itt_id parent, struct itt_string *name)
{
	(void)domain;
	(void)task;
	(void)parent;
	pkbpf_enter(text_of(name), 0);
}

static void itt_task_end(const struct itt_domain *domain)
{
	(void)domain;
	pkbpf_leave();
}

/* Ids are the program's own, often addresses. */
static unsigned long number_of(const struct itt_domain *domain, const struct itt_id *id)
{
	unsigned long number = (unsigned long)(uintptr_t)domain;

	if (id)
		number += (unsigned long)(id->d1 * 0x9E3779B97F4A7C15ULL ^
					  id->d2 * 0xC2B2AE3D27D4EB4FULL ^ id->d3);
	return number;
}

static void itt_overlapped_begin(const struct itt_domain *domain, struct itt_id task,
				 struct itt_id parent, struct itt_string *name)
{
	(void)parent;
	pkbpf_begin(text_of(name), number_of(domain, &task), 0);
}

static void itt_overlapped_end(const struct itt_domain *domain, struct itt_id task)
{
	pkbpf_end(number_of(domain, &task));
}

static void itt_frame_begin(const struct itt_domain *domain, struct itt_id *id)
{
	pkbpf_begin(name_or(domain ? domain->name : NULL, "frame"), number_of(domain, id), 0);
}

static void itt_frame_end(const struct itt_domain *domain, struct itt_id *id)
{
	pkbpf_end(number_of(domain, id));
}

static const struct {
	const char *name;
	void *function;
} itt_functions[] = {
	{"__itt_domain_create", (void *)itt_domain_create},
	{"__itt_string_handle_create", (void *)itt_string_create},
	{"__itt_task_begin", (void *)itt_task_begin},
	{"__itt_task_end", (void *)itt_task_end},
	{"__itt_task_begin_overlapped", (void *)itt_overlapped_begin},
	{"__itt_task_end_overlapped", (void *)itt_overlapped_end},
	{"__itt_frame_begin_v3", (void *)itt_frame_begin},
	{"__itt_frame_end_v3", (void *)itt_frame_end},
};

/* The program's list of functions: those that are here are set, others have nobody to call. */
EXPORTED void __itt_api_init(struct itt_state *state, int groups);

void __itt_api_init(struct itt_state *state, int groups)
{
	(void)groups;
	if (!state || state->major != 3 || !state->functions)
		return;
	for (struct itt_function *function = state->functions; function->name; function++) {
		if (!function->pointer)
			continue;
		*function->pointer = function->null;
		for (size_t i = 0; i < sizeof(itt_functions) / sizeof(itt_functions[0]); i++)
			if (strcmp(function->name, itt_functions[i].name) == 0)
				*function->pointer = itt_functions[i].function;
	}
}
