// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/drm_clients.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "gpu/drm_fdinfo.h"
#include "machine/sysfs_value.h"

#define CLIENTS_MAX 4096
/* A pause two hundred times as long as going through all processes took. */
#define SCAN_RATIO	 200
#define SCAN_LONGEST_NS	 (30 * NS_PER_SECOND)
#define SCAN_SHORTEST_NS NS_PER_SECOND

struct drm_client {
	/* As of the last look and as of this one; of counters that went back `before` keeps the
	 * larger. */
	struct drm_fdinfo before, now;
	uint32_t pid, holder; /* holder: pid that has it in this look; 0: none yet */
	bool is_new;	      /* since the last look */
	uint64_t seen_ns;     /* CLOCK_MONOTONIC; `before` is of that time */
};

struct drm_clients {
	const char *root;
	ARRAY_OF(struct drm_client) items;
	uint64_t scanned_ns; /* all processes; 0: never */
	uint64_t next_scan_ns;
	uint64_t left_out; /* clients without room, in this look */
};

struct drm_clients *drm_clients_new(const char *root)
{
	struct drm_clients *clients = calloc(1, sizeof(*clients));

	if (clients)
		clients->root = root;
	return clients;
}

void drm_clients_free(struct drm_clients *clients)
{
	if (!clients)
		return;
	array_free(&clients->items);
	free(clients);
}

static bool is_time_told(const struct drm_fdinfo *info)
{
	for (size_t i = 0; i < info->engine_count; i++)
		if (info->engines[i].has_time || info->engines[i].has_cycles)
			return true;
	return false;
}

/* NVIDIA's library has the figures of its driver. */
static bool has_another_source(const struct drm_fdinfo *info)
{
	return strncmp(info->driver, "nvidia", 6) == 0;
}

static uint64_t count_untimed(const struct drm_clients *clients)
{
	uint64_t count = 0;

	array_foreach(&clients->items, client)
		count += client->holder && !is_time_told(&client->before) &&
			 !has_another_source(&client->before);
	return count;
}

/* ---- descriptors of processes ---- */

struct scan {
	struct drm_clients *clients;
	uint32_t pid;
};

static struct drm_client *find_client(struct drm_clients *clients, const struct drm_fdinfo *info)
{
	array_foreach(&clients->items, client)
		if (client->before.client == info->client &&
		    strcmp(client->before.device, info->device) == 0 &&
		    strcmp(client->before.driver, info->driver) == 0)
			return client;
	return NULL;
}

static void take_client(const struct scan *scan, const struct drm_fdinfo *info)
{
	struct drm_clients *clients = scan->clients;
	struct drm_client *client = find_client(clients, info);

	if (!client) {
		client = clients->items.count < CLIENTS_MAX ? array_add(&clients->items) : NULL;
		if (!client) {
			clients->left_out++;
			return;
		}
		client->pid = scan->pid;
		client->is_new = true;
		client->before = *info;
	}
	if (!client->holder)
		client->now = *info;
	if (!client->holder || scan->pid == client->pid)
		client->holder = scan->pid;
}

static bool is_of_device(const char *target)
{
	return strncmp(target, "/dev/dri/", 9) == 0 || strncmp(target, "/dev/accel/", 11) == 0;
}

static bool look_at_descriptor(void *context, const char *name)
{
	const struct scan *scan = context;
	char path[128], full[2 * SYSFS_PATH_SIZE], target[64];
	struct drm_fdinfo info;
	ssize_t length;
	char *text;

	snprintf(path, sizeof(path), "/proc/%u/fd/%.20s", scan->pid, name);
	snprintf(full, sizeof(full), "%.511s%s", scan->clients->root, path);
	length = readlink(full, target, sizeof(target) - 1);
	if (length <= 0)
		return true;
	target[length] = '\0';
	if (!is_of_device(target))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%.20s", scan->pid, name);
	text = sysfs_text(scan->clients->root, path);
	if (text && drm_fdinfo_read(text, &info) && info.has_client)
		take_client(scan, &info);
	free(text);
	return true;
}

static void look_at_process(struct drm_clients *clients, uint32_t pid)
{
	struct scan scan = {clients, pid};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	sysfs_each(clients->root, path, look_at_descriptor, &scan);
}

static bool look_at_entry(void *context, const char *name)
{
	if (isdigit((unsigned char)name[0]))
		look_at_process(context, (uint32_t)strtoul(name, NULL, 10));
	return true;
}

/* Clients of a process lie anywhere in the list, and it grows meanwhile. */
static void look_at_known(struct drm_clients *clients)
{
	size_t count = clients->items.count;

	for (size_t i = 0; i < count; i++) {
		uint32_t pid = clients->items.items[i].pid;
		bool is_done = false;

		for (size_t j = 0; j < i && !is_done; j++)
			is_done = clients->items.items[j].pid == pid;
		if (!is_done)
			look_at_process(clients, pid);
	}
}

static void scan_all(struct drm_clients *clients, uint64_t now_ns)
{
	uint64_t took_ns = clock_now_ns(), pause_ns;

	sysfs_each(clients->root, "/proc", look_at_entry, clients);
	took_ns = clock_now_ns() - took_ns;
	pause_ns = took_ns * SCAN_RATIO;
	if (pause_ns < SCAN_SHORTEST_NS)
		pause_ns = SCAN_SHORTEST_NS;
	clients->next_scan_ns = now_ns + (pause_ns < SCAN_LONGEST_NS ? pause_ns : SCAN_LONGEST_NS);
}

/* ---- what they used ---- */

/* Of all clients of a device, and of all clients of a process there, by kind of engine. */
struct engine_sum {
	uint32_t device; /* index in the look */
	uint32_t pid;	 /* 0: of the device */
	char names[DRM_ENGINES_MAX][DRM_NAME_SIZE];
	uint64_t ns[DRM_ENGINES_MAX]; /* divided by the capacity */
	size_t count;
};

struct sums {
	ARRAY_OF(struct engine_sum) items;
};

static struct engine_sum *sum_of(struct sums *sums, uint32_t device, uint32_t pid)
{
	struct engine_sum *sum;

	array_foreach(&sums->items, each)
		if (each->device == device && each->pid == pid)
			return each;
	sum = array_add(&sums->items);
	if (sum) {
		sum->device = device;
		sum->pid = pid;
	}
	return sum;
}

static void add_engine(struct engine_sum *sum, const char *name, uint64_t ns)
{
	size_t i = 0;

	if (!sum)
		return;
	while (i < sum->count && strcmp(sum->names[i], name) != 0)
		i++;
	if (i == DRM_ENGINES_MAX)
		return;
	if (i == sum->count) {
		strcpy(sum->names[i], name);
		sum->count++;
	}
	sum->ns[i] += ns;
}

static uint64_t busiest_ns(const struct engine_sum *sum)
{
	uint64_t most = 0;

	for (size_t i = 0; sum && i < sum->count; i++)
		most = sum->ns[i] > most ? sum->ns[i] : most;
	return most;
}

static struct drm_engine *engine_named(struct drm_fdinfo *info, const char *name)
{
	for (size_t i = 0; i < info->engine_count; i++)
		if (strcmp(info->engines[i].name, name) == 0)
			return &info->engines[i];
	return NULL;
}

/* Nanoseconds of one engine since `before`, which is brought up to date. */
static uint64_t used_ns(struct drm_engine *before, const struct drm_engine *now, uint64_t passed_ns)
{
	uint64_t ns = 0;

	if (now->has_time && now->busy_ns > before->busy_ns) {
		ns = now->busy_ns - before->busy_ns;
		before->busy_ns = now->busy_ns;
	} else if (!now->has_time && now->has_cycles) {
		if (now->cycles > before->cycles && now->total_cycles > before->total_cycles)
			ns = (uint64_t)((double)(now->cycles - before->cycles) /
					(double)(now->total_cycles - before->total_cycles) *
					(double)passed_ns);
		before->cycles = now->cycles;
		before->total_cycles = now->total_cycles;
	}
	return ns / now->capacity;
}

/* The time in which a client used what it did; 0: before the first look. */
static uint64_t passed_ns(const struct drm_clients *clients, const struct drm_client *client,
			  uint64_t now_ns)
{
	if (!client->is_new)
		return now_ns - client->seen_ns;
	return clients->scanned_ns ? now_ns - clients->scanned_ns : 0;
}

/* What a client without an earlier look has used: all, where that can be. */
static uint64_t used_since_begin_ns(const struct drm_engine *now, uint64_t passed_ns)
{
	uint64_t ns = now->has_time ? now->busy_ns / now->capacity : 0;

	return ns < passed_ns ? ns : passed_ns;
}

static void add_engines(const struct drm_clients *clients, struct drm_client *client,
			uint64_t now_ns, struct engine_sum *of_device,
			struct engine_sum *of_process)
{
	uint64_t passed = passed_ns(clients, client, now_ns);

	for (size_t i = 0; i < client->now.engine_count; i++) {
		const struct drm_engine *now = &client->now.engines[i];
		struct drm_engine *before = engine_named(&client->before, now->name);
		uint64_t ns = 0;

		if (client->is_new)
			ns = used_since_begin_ns(now, passed);
		else if (before)
			ns = used_ns(before, now, passed);
		add_engine(of_device, now->name, ns);
		add_engine(of_process, now->name, ns);
	}
	/* An engine that is named from now on only. */
	if (client->now.engine_count > client->before.engine_count)
		client->before = client->now;
}

/* Of no device on PCI: what the driver is called. */
static struct gpu_reading *device_of(struct gpu_look *look, const struct drm_fdinfo *info)
{
	struct gpu_reading *device;

	for (size_t i = 0; !info->device[0] && i < look->device_count; i++)
		if (strcmp(look->devices[i].driver, info->driver) == 0)
			return &look->devices[i];
	device = gpu_look_device(look, info->device[0] ? info->device : info->driver);
	if (device && !device->driver[0])
		snprintf(device->driver, sizeof(device->driver), "%.*s", GPU_DRIVER_SIZE - 1,
			 info->driver);
	return device;
}

static void add_client(struct drm_clients *clients, struct drm_client *client, uint64_t now_ns,
		       struct gpu_look *look, struct sums *sums)
{
	struct gpu_reading *device = device_of(look, &client->now);
	uint32_t number = device ? (uint32_t)(device - look->devices) : 0;
	struct gpu_use *use = device ? gpu_look_use(look, number, client->holder) : NULL;
	uint64_t bytes;

	if (!use)
		return;
	if (drm_fdinfo_memory(&client->now, &bytes)) {
		use->known |= GPU_HAS_MEMORY;
		use->memory += bytes;
	}
	if (is_time_told(&client->now)) {
		/* The first may move when the second is made. */
		sum_of(sums, number, 0);
		sum_of(sums, number, client->holder);
		use->known |= GPU_HAS_BUSY;
		add_engines(clients, client, now_ns, sum_of(sums, number, 0),
			    sum_of(sums, number, client->holder));
	}
	client->pid = client->holder;
	client->seen_ns = now_ns;
	client->is_new = false;
}

static void take_sum(struct gpu_look *look, const struct engine_sum *sum, uint64_t since_ns)
{
	struct gpu_reading *device = &look->devices[sum->device];
	uint64_t busy_ns = busiest_ns(sum);

	if (sum->pid) {
		struct gpu_use *use = gpu_look_use(look, sum->device, sum->pid);

		if (use)
			use->busy_ns = busy_ns;
	} else if (since_ns) {
		/* Drivers may report work when it is done, later than it was. */
		uint32_t permille =
			busy_ns < since_ns ? (uint32_t)(1000 * busy_ns / since_ns) : 1000;

		/* Work that is queued past the kernel is in no client's account. */
		if (permille > device->busy_permille)
			device->busy_permille = permille;
		device->known |= GPU_HAS_BUSY;
	}
}

static void forget_ended(struct drm_clients *clients, struct gpu_look *look)
{
	size_t kept = 0;

	for (size_t i = 0; i < clients->items.count; i++) {
		if (!clients->items.items[i].holder)
			look->ended++;
		else
			clients->items.items[kept++] = clients->items.items[i];
	}
	clients->items.count = kept;
}

/* Of a device without open descriptors, with a driver that counts time. */
static void mark_idle(struct gpu_look *look, uint32_t number)
{
	static const char *const timed[] = {"amdgpu",	"i915",	   "xe",  "msm_dpu",
					    "panfrost", "panthor", "v3d", "etnaviv"};
	struct gpu_reading *device = &look->devices[number];

	array_foreach(&look->uses, use)
		if (use->device == number)
			return;
	for (size_t i = 0; i < ARRAY_SIZE(timed); i++)
		if (strcmp(device->driver, timed[i]) == 0)
			device->known |= GPU_HAS_BUSY;
}

void drm_clients_look(struct drm_clients *clients, uint64_t now_ns, uint64_t since_ns,
		      struct gpu_look *look)
{
	bool is_scan = now_ns >= clients->next_scan_ns;
	struct sums sums = {.items.count = 0};

	array_foreach(&clients->items, client)
		client->holder = 0;
	clients->left_out = 0;
	if (is_scan)
		scan_all(clients, now_ns);
	else
		look_at_known(clients);
	look->left_out += clients->left_out;
	/* Where not all were looked at, another process may have it. */
	if (is_scan)
		forget_ended(clients, look);
	array_foreach(&clients->items, client)
		if (client->holder)
			add_client(clients, client, now_ns, look, &sums);
	array_foreach(&sums.items, sum)
		take_sum(look, sum, since_ns);
	array_free(&sums.items);
	look->untimed = count_untimed(clients);
	for (uint32_t i = 0; since_ns && i < look->device_count; i++)
		mark_idle(look, i);
	if (is_scan)
		clients->scanned_ns = now_ns;
}
