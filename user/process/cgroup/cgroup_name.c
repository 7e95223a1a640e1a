// SPDX-License-Identifier: BSD-2-Clause
/* Shapes of cgroup paths made by container runtimes and systemd. */
#include "process/cgroup/cgroup_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define FULL_ID_LENGTH	64
#define SHORT_ID_LENGTH 12

/* One element is <prefix><id><suffix>. not_prefix: excludes the same runtime's monitor, whose
 * element looks alike. */
struct shape {
	const char *runtime, *prefix, *suffix, *not_prefix;
};

static const struct shape shapes[] = {
	{"docker", "docker-", ".scope", NULL},
	{"containerd", "cri-containerd-", ".scope", NULL},
	{"cri-o", "crio-", ".scope", "crio-conmon-"},
	{"cri-o", "crio-", "", "crio-conmon-"},
	/* where a unit's cgroup is split between podman and the container (Quadlet) */
	{"podman", "libpod-payload-", "", NULL},
	{"podman", "libpod-", ".scope", "libpod-conmon-"},
	{"podman", "libpod-", "", "libpod-conmon-"},
	{"nerdctl", "nerdctl-", ".scope", NULL},
	{"lxc", "lxc.payload.", "", NULL},
	{"nspawn", "systemd-nspawn@", ".service", NULL},
	{"machine", "machine-", ".scope", NULL},
};

/* Elements below the directory of a task: "/ecs/<task>/<container>", on Fargate "<task>-<number>".
 */
#define TASK_FOLDER "ecs"

/* An element below a directory of this name is a container. full_id: only if it is an identifier
 * of 64 digits; other directories belong to the runtime itself ("docker/buildkit"). */
static const struct {
	const char *folder, *runtime;
	bool full_id;
} folders[] = {
	{"docker", "docker", true},
	{"moby", "docker", true},
	{"lxc", "lxc", false},
	{"k8s.io", "containerd", false},
	{"default", "containerd", false},
	{"buildkit", "buildkit", false},
};

static const char *const unit_suffixes[] = {
	".service", ".scope", ".socket", ".mount",  ".automount",
	".swap",    ".timer", ".path",	 ".device", ".target",
};

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text), suffix_length = strlen(suffix);

	return length > suffix_length && strcmp(text + length - suffix_length, suffix) == 0;
}

static bool is_full_id(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return length == FULL_ID_LENGTH && !text[length];
}

static void set_container(struct cgroup_name *name, const char *runtime, const char *id,
			  size_t length)
{
	name->runtime = runtime;
	snprintf(name->id, sizeof(name->id), "%.*s", (int)length, id);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* systemd writes characters not allowed in a name as \xNN. What no name may hold, a NUL or a
 * slash, stays escaped. */
static void unescape(char *to, size_t size, const char *from)
{
	size_t used = 0;

	while (*from && used + 1 < size) {
		int high = begins_with(from, "\\x") ? hex_digit(from[2]) : -1;
		int low = high >= 0 ? hex_digit(from[3]) : -1;

		if (low >= 0 && high * 16 + low != 0 && high * 16 + low != '/') {
			to[used++] = (char)(high * 16 + low);
			from += 4;
		} else {
			to[used++] = *from++;
		}
	}
	to[used] = '\0';
}

static bool match_shape(const struct shape *shape, const char *element, struct cgroup_name *name)
{
	size_t prefix = strlen(shape->prefix), suffix = strlen(shape->suffix),
	       length = strlen(element);
	char raw[CGROUP_NAME_SIZE];

	if (!begins_with(element, shape->prefix) || length <= prefix + suffix ||
	    !ends_in(element, shape->suffix) ||
	    (shape->not_prefix && begins_with(element, shape->not_prefix)))
		return false;
	set_container(name, shape->runtime, element + prefix, length - prefix - suffix);
	/* The name of a unit: "machine-qemu\\x2d1\\x2dweb.scope". */
	if (suffix) {
		strcpy(raw, name->id);
		unescape(name->id, sizeof(name->id), raw);
	}
	return true;
}

/* "slice:prefix:id": from runtimes configured for systemd on machines without it. */
static bool match_triple(const char *element, struct cgroup_name *name)
{
	const char *prefix = strchr(element, ':'), *id = prefix ? strchr(prefix + 1, ':') : NULL;

	if (!id || !id[1] || strchr(id + 1, ':'))
		return false;
	prefix++;
	set_container(name,
		      begins_with(prefix, "cri-containerd:") ? "containerd"
		      : begins_with(prefix, "docker:")	     ? "docker"
		      : begins_with(prefix, "crio:")	     ? "cri-o"
							     : "container",
		      id + 1, strlen(id + 1));
	return true;
}

/* "pod<uid>" or "kubepods-burstable-pod<uid with _>.slice"; the uid has 36 characters, a static
 * pod's 32. */
static bool match_pod(const char *element, struct cgroup_name *name)
{
	const char *uid = begins_with(element, "pod") ? element + 3 : NULL;
	bool is_slice = ends_in(element, ".slice");
	size_t length;

	if (is_slice) {
		const char *at = element;

		while ((at = strstr(at, "-pod")))
			uid = at += 4;
	}
	if (!uid)
		return false;
	length = strspn(uid, "0123456789abcdef-_");
	if (length < 32 || length > 36 || strcmp(uid + length, is_slice ? ".slice" : "") != 0)
		return false;
	snprintf(name->pod_uid, sizeof(name->pod_uid), "%.*s", (int)length, uid);
	for (char *c = name->pod_uid; *c; c++)
		if (*c == '_')
			*c = '-';
	return true;
}

static bool match_container(const char *element, const char *above, bool in_pod, bool in_task,
			    struct cgroup_name *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (match_shape(&shapes[i], element, name))
			return true;
	if (match_triple(element, name))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (strcmp(above, folders[i].folder) == 0 &&
		    (!folders[i].full_id || is_full_id(element))) {
			set_container(name, folders[i].runtime, element, strlen(element));
			return true;
		}
	}
	if (in_pod && !begins_with(element, "crio-conmon-")) {
		set_container(name, "containerd", element, strlen(element));
		return true;
	}
	if (in_task || is_full_id(element)) {
		set_container(name, in_task ? TASK_FOLDER : "container", element, strlen(element));
		return true;
	}
	return false;
}

static bool is_unit(const char *element)
{
	for (size_t i = 0; i < ARRAY_SIZE(unit_suffixes); i++)
		if (ends_in(element, unit_suffixes[i]))
			return true;
	return false;
}

void cgroup_name_parse(const char *path, struct cgroup_name *ret_name)
{
	char element[CGROUP_NAME_SIZE], above[CGROUP_NAME_SIZE] = "";
	const char *start = path;
	bool in_pod = false, in_task = false, is_task;

	*ret_name = (struct cgroup_name){0};
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 0) {
			path++;
			continue;
		}
		snprintf(element, sizeof(element), "%.*s",
			 (int)(length < sizeof(element) ? length : sizeof(element) - 1), path);
		path += length;
		is_task = strcmp(above, TASK_FOLDER) == 0;
		if (match_pod(element, ret_name)) {
			in_pod = true;
		} else {
			if (match_container(element, above, in_pod, in_task, ret_name)) {
				in_pod = false;
				is_task = false;
				ret_name->outer_end = ret_name->container_end;
				ret_name->container_end = (size_t)(path - start);
			} else if (is_unit(element)) {
				unescape(ret_name->unit, sizeof(ret_name->unit), element);
				/* A user within a container is not one of this machine. */
				if (!ret_name->has_user && !ret_name->container_end)
					ret_name->has_user =
						sscanf(element, "user@%" SCNu32 ".service",
						       &ret_name->user) == 1;
				ret_name->unit_end = (size_t)(path - start);
			}
		}
		in_task = is_task;
		strcpy(above, element);
	}
}

void container_label(const struct cgroup_name *name, const char *container, const char *path,
		     char *ret_text, size_t size)
{
	if (name->runtime && container && *container)
		snprintf(ret_text, size, "%s:%s", name->runtime, container);
	else
		cgroup_name_display(name, path, ret_text, size);
}

void cgroup_name_display(const struct cgroup_name *name, const char *path, char *ret_text,
			 size_t size)
{
	if (name->runtime)
		snprintf(ret_text, size, "%s:%.*s", name->runtime,
			 is_full_id(name->id) ? SHORT_ID_LENGTH : CGROUP_NAME_SIZE, name->id);
	else if (name->unit[0])
		snprintf(ret_text, size, "%s", name->unit);
	else
		snprintf(ret_text, size, "%s", path);
}
