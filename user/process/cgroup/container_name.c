// SPDX-License-Identifier: BSD-2-Clause
/* Reads the state files of Docker, podman, containerd and CRI-O, and the log directories of
 * Kubernetes. */
#include "process/cgroup/container_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"

/* These files nest little; jansson itself stops at a depth of 2048. */
static json_t *load(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static json_t *load(const char *root, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	char path[PATH_MAX];
	size_t size, used = (size_t)snprintf(path, sizeof(path), "%s", root);
	va_list arguments;

	va_start(arguments, format);
	if (used < sizeof(path))
		used += (size_t)vsnprintf(path + used, sizeof(path) - used, format, arguments);
	va_end(arguments);
	if (used >= sizeof(path) ||
	    file_read_all(AT_FDCWD, path, CONTAINER_FILE_MAX_BYTES, &text, &size))
		return NULL;
	return json_loadb(text, size, 0, NULL);
}

static bool put(char *ret_name, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool put(char *ret_name, size_t size, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(ret_name, size, format, arguments);
	va_end(arguments);
	return length > 0;
}

/* An id becomes part of a path, so it must not contain one. */
static bool is_plain(const char *id)
{
	return id[0] && id[0] != '.' && !strchr(id, '/');
}

static bool docker_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			size_t size)
{
	json_t *config = load(root, "/etc/docker/daemon.json"), *state;
	const char *data_root = json_string_value(json_object_get(config, "data-root"));
	const char *name;
	bool found;

	state = load(root, "%s/containers/%s/config.v2.json",
		     data_root && data_root[0] == '/' ? data_root : "/var/lib/docker", cgroup->id);
	name = json_string_value(json_object_get(state, "Name"));
	if (name && name[0] == '/')
		name++;
	found = name && name[0] && put(ret_name, size, "%s", name);
	json_decref(state);
	json_decref(config);
	return found;
}

/* One array of all containers in the host's storage. */
static bool podman_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			size_t size)
{
	json_t *list = load(root, "/var/lib/containers/storage/overlay-containers/containers.json"),
	       *container;
	bool found = false;
	size_t i;

	json_array_foreach(list, i, container)
	{
		const char *id = json_string_value(json_object_get(container, "id"));
		const char *name =
			json_string_value(json_array_get(json_object_get(container, "names"), 0));

		if (id && name && name[0] && strcmp(id, cgroup->id) == 0) {
			found = put(ret_name, size, "%s", name);
			break;
		}
	}
	json_decref(list);
	return found;
}

/* The container's start specification; its annotations name the pod. */
static bool spec_name(json_t *spec, const char *ns_key, const char *pod_key,
		      const char *container_key, char *ret_name, size_t size)
{
	json_t *annotations = json_object_get(spec, "annotations");
	const char *ns = json_string_value(json_object_get(annotations, ns_key));
	const char *pod = json_string_value(json_object_get(annotations, pod_key));
	const char *container = json_string_value(json_object_get(annotations, container_key));

	if (!ns || !pod)
		return false;
	return put(ret_name, size, "%s/%s/%s", ns, pod, container ? container : "(sandbox)");
}

static bool containerd_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			    size_t size)
{
	json_t *spec =
		load(root, "/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
		     cgroup->id);
	bool found = spec_name(spec, "io.kubernetes.cri.sandbox-namespace",
			       "io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.container-name",
			       ret_name, size);

	json_decref(spec);
	return found;
}

static bool crio_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
		      size_t size)
{
	json_t *spec =
		load(root, "/var/lib/containers/storage/overlay-containers/%s/userdata/config.json",
		     cgroup->id);
	bool found = spec_name(spec, "io.kubernetes.pod.namespace", "io.kubernetes.pod.name",
			       "io.kubernetes.container.name", ret_name, size);

	json_decref(spec);
	return found;
}

/* /var/log/containers/<pod>_<namespace>_<container>-<id>.log */
static bool log_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
		     size_t size)
{
	char path[PATH_MAX], ending[CGROUP_NAME_SIZE + 8];
	bool found = false;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/var/log/containers", root);
	snprintf(ending, sizeof(ending), "-%s.log", cgroup->id);
	folder = opendir(path);
	for (size_t i = 0;
	     folder && !found && i < CONTAINER_FOLDER_MAX && (entry = readdir(folder)); i++) {
		size_t length = strlen(entry->d_name), ending_length = strlen(ending);
		char *pod = entry->d_name, *ns, *container;

		if (length <= ending_length || strcmp(pod + length - ending_length, ending) != 0)
			continue;
		pod[length - ending_length] = '\0';
		ns = strchr(pod, '_');
		container = ns ? strchr(ns + 1, '_') : NULL;
		if (!container)
			continue;
		found = put(ret_name, size, "%.*s/%.*s/%s", (int)(container - ns - 1), ns + 1,
			    (int)(ns - pod), pod, container + 1);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* /var/log/pods/<namespace>_<pod>_<uid>: gives the pod only. */
static bool pod_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
		     size_t size)
{
	char path[PATH_MAX];
	bool found = false;
	struct dirent *entry;
	DIR *folder;

	if (!cgroup->pod_uid[0])
		return false;
	snprintf(path, sizeof(path), "%s/var/log/pods", root);
	folder = opendir(path);
	for (size_t i = 0;
	     folder && !found && i < CONTAINER_FOLDER_MAX && (entry = readdir(folder)); i++) {
		char *last = strrchr(entry->d_name, '_'), *first = strchr(entry->d_name, '_');

		if (!first || first == last || strcmp(last + 1, cgroup->pod_uid) != 0)
			continue;
		found = put(ret_name, size, "%.*s/%.*s", (int)(first - entry->d_name),
			    entry->d_name, (int)(last - first - 1), first + 1);
	}
	if (folder)
		closedir(folder);
	return found;
}

bool container_name_find(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			 size_t size)
{
	static const struct {
		const char *runtime; /* NULL: any */
		bool (*find)(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			     size_t size);
	} ways[] = {
		{"docker", docker_name},
		{"container", docker_name},
		{"podman", podman_name},
		{"container", podman_name},
		{"containerd", containerd_name},
		{"cri-o", crio_name},
		{NULL, log_name},
		{NULL, pod_name},
	};

	if (!cgroup->runtime || !is_plain(cgroup->id))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if ((!ways[i].runtime || strcmp(ways[i].runtime, cgroup->runtime) == 0) &&
		    ways[i].find(root, cgroup, ret_name, size))
			return true;
	return false;
}
