// SPDX-License-Identifier: BSD-2-Clause
#include "gpu/drm_fdinfo.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define KEY_SIZE   64
#define VALUE_SIZE 64

/* A number, and the unit behind it. */
static bool read_number(const char *value, uint64_t *ret_number, const char **ret_unit)
{
	char *end;

	if (!isdigit((unsigned char)value[0]))
		return false;
	errno = 0;
	*ret_number = strtoull(value, &end, 10);
	*ret_unit = end + strspn(end, " \t");
	return errno == 0;
}

static bool read_bytes(const char *value, uint64_t *ret_bytes)
{
	static const struct {
		const char *name;
		unsigned int shift;
	} units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
	const char *unit;
	uint64_t number;

	if (!read_number(value, &number, &unit))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) != 0 || number > UINT64_MAX >> units[i].shift)
			continue;
		*ret_bytes = number << units[i].shift;
		return true;
	}
	return false;
}

static struct drm_engine *find_engine(struct drm_fdinfo *info, const char *name)
{
	struct drm_engine *engine;

	for (size_t i = 0; i < info->engine_count; i++)
		if (strcmp(info->engines[i].name, name) == 0)
			return &info->engines[i];
	if (!name[0] || strlen(name) >= DRM_NAME_SIZE || info->engine_count == DRM_ENGINES_MAX)
		return NULL;
	engine = &info->engines[info->engine_count++];
	*engine = (struct drm_engine){.capacity = 1};
	strcpy(engine->name, name);
	return engine;
}

static struct drm_region *find_region(struct drm_fdinfo *info, const char *name)
{
	struct drm_region *region;

	for (size_t i = 0; i < info->region_count; i++)
		if (strcmp(info->regions[i].name, name) == 0)
			return &info->regions[i];
	if (!name[0] || strlen(name) >= DRM_NAME_SIZE || info->region_count == DRM_REGIONS_MAX)
		return NULL;
	region = &info->regions[info->region_count++];
	*region = (struct drm_region){.total = 0};
	strcpy(region->name, name);
	return region;
}

/* What stands behind a prefix; NULL: another key. */
static const char *after(const char *key, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(key, prefix, length) == 0 ? key + length : NULL;
}

static void take_engine(struct drm_fdinfo *info, const char *key, const char *value)
{
	/* A prefix of another comes behind it. */
	static const char *const prefixes[] = {"engine-capacity-", "engine-", "total-cycles-",
					       "cycles-"};
	const char *name = NULL, *unit;
	struct drm_engine *engine;
	uint64_t number;
	size_t which = 0;

	while (which < ARRAY_SIZE(prefixes) && !(name = after(key, prefixes[which])))
		which++;
	if (!name || !read_number(value, &number, &unit))
		return;
	engine = find_engine(info, name);
	if (!engine)
		return;
	if (which == 0 && number && number <= UINT16_MAX)
		engine->capacity = (uint32_t)number;
	if (which == 1 && strcmp(unit, "ns") == 0) {
		engine->has_time = true;
		engine->busy_ns = number;
	}
	if (which == 2)
		engine->total_cycles = number;
	if (which == 3) {
		engine->has_cycles = true;
		engine->cycles = number;
	}
}

static void take_region(struct drm_fdinfo *info, const char *key, const char *value)
{
	const char *total = after(key, "total-"), *resident = after(key, "resident-");
	/* The name that amdgpu had for it first. */
	const char *memory = after(key, "memory-");
	const char *name = total ? total : resident ? resident : memory;
	struct drm_region *region;
	uint64_t bytes;

	if (!name || after(key, "total-cycles-") || !read_bytes(value, &bytes))
		return;
	region = find_region(info, name);
	if (!region)
		return;
	if (total) {
		region->total = bytes;
	} else if (resident || !region->has_resident) {
		region->resident = bytes;
		region->has_resident = true;
	}
}

static void copy(char *to, size_t size, const char *from)
{
	if (strlen(from) < size)
		strcpy(to, from);
}

static void take_line(struct drm_fdinfo *info, const char *key, const char *value)
{
	const char *unit;

	if (strcmp(key, "driver") == 0)
		copy(info->driver, sizeof(info->driver), value);
	else if (strcmp(key, "pdev") == 0)
		copy(info->device, sizeof(info->device), value);
	else if (strcmp(key, "client-id") == 0)
		info->has_client = read_number(value, &info->client, &unit);
	take_engine(info, key, value);
	take_region(info, key, value);
}

bool drm_fdinfo_read(const char *text, struct drm_fdinfo *ret_info)
{
	*ret_info = (struct drm_fdinfo){.client = 0};
	for (const char *line = text; *line; line += strspn(line, "\n")) {
		char key[KEY_SIZE], value[VALUE_SIZE];
		size_t length = strcspn(line, "\n");
		int from = 0;

		if (length < KEY_SIZE + VALUE_SIZE && after(line, "drm-") &&
		    sscanf(line, "drm-%63[^:\n]:%*[ \t]%n", key, &from) == 1 && from &&
		    length - (size_t)from < VALUE_SIZE) {
			snprintf(value, sizeof(value), "%.*s", (int)(length - (size_t)from),
				 line + from);
			take_line(ret_info, key, value);
		}
		line += length;
	}
	return ret_info->driver[0];
}

/* Memory of the device: "vram", "vram0", "local0". */
static bool is_local(const struct drm_region *region)
{
	return after(region->name, "vram") || after(region->name, "local");
}

/* Pages of the machine that the device can reach, but that are not in use by it. */
static bool is_elsewhere(const struct drm_region *region)
{
	return strcmp(region->name, "cpu") == 0 || after(region->name, "stolen");
}

bool drm_fdinfo_memory(const struct drm_fdinfo *info, uint64_t *ret_bytes)
{
	bool has_local = false, is_known = false;

	*ret_bytes = 0;
	for (size_t i = 0; i < info->region_count; i++)
		has_local |= is_local(&info->regions[i]);
	for (size_t i = 0; i < info->region_count; i++) {
		const struct drm_region *region = &info->regions[i];
		uint64_t bytes = region->has_resident ? region->resident : region->total;

		if (has_local ? !is_local(region) : is_elsewhere(region))
			continue;
		is_known = true;
		*ret_bytes = bytes > UINT64_MAX - *ret_bytes ? UINT64_MAX : *ret_bytes + bytes;
	}
	return is_known;
}
