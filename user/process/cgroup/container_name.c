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
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file_io.h"

/* Below the data root. */
#define DOCKER_CONTAINERS "/containers"
#define CONTAINERD_STATE  "/run/containerd"
/* Below the folder of its state: <namespace>/<id>, the bundle that a container was started from. */
#define CONTAINERD_TASKS "/io.containerd.runtime.v2.task"
/* Maximum number of namespaces whose bundles are looked for. */
#define CONTAINERD_NAMESPACES_MAX 64

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

/* Home of the user whose manager runs the container ("user@1000.service"): "" without one, as for
 * the containers of root. False: a user without a home. */
static bool home_of(const char *root, const struct cgroup_name *cgroup, char *ret_home, size_t size)
{
	_cleanup_free_ char *users = NULL;
	char path[PATH_MAX], *rest = NULL;
	size_t length;

	ret_home[0] = '\0';
	if (!cgroup->has_user)
		return true;
	snprintf(path, sizeof(path), "%s/etc/passwd", root);
	if (file_read_all(AT_FDCWD, path, CONTAINER_FILE_MAX_BYTES, &users, &length))
		return false;
	for (char *line = strtok_r(users, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *field = line, *fields[6] = {0};

		for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
			fields[i] = strsep(&field, ":");
		if (fields[5] && fields[5][0] == '/' &&
		    strtoul(fields[2], NULL, 10) == cgroup->user)
			return put(ret_home, size, "%s", fields[5]);
	}
	return false;
}

/* "k8s_<container>_<pod>_<namespace>_<uid>_<attempt>": Kubernetes by way of Docker. */
static bool put_docker_name(const char *name, char *ret_name, size_t size)
{
	_cleanup_free_ char *copy = strncmp(name, "k8s_", 4) == 0 ? strdup(name + 4) : NULL;
	char *rest = copy, *fields[4] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i] = strsep(&rest, "_");
	if (!fields[3])
		return name[0] && put(ret_name, size, "%s", name);
	return put(ret_name, size, "%s/%s/%s", fields[2], fields[1],
		   strcmp(fields[0], "POD") == 0 ? "(sandbox)" : fields[0]);
}

static bool docker_name_in(const char *root, const char *data_root,
			   const struct cgroup_name *cgroup, char *ret_name, size_t size)
{
	json_t *state =
		load(root, "%s" DOCKER_CONTAINERS "/%s/config.v2.json", data_root, cgroup->id);
	const char *name = json_string_value(json_object_get(state, "Name"));
	bool found;

	if (name && name[0] == '/')
		name++;
	found = name && put_docker_name(name, ret_name, size);
	json_decref(state);
	return found;
}

/* Docker mounts files of the container's own over some of /etc: "<data
 * root>/containers/<id>/hostname". Cuts the source of such a mount after the data root; those who
 * share a network share its files, so that the id may be another's. */
static bool cut_to_data_root(const char *source, char *ret_root, size_t size)
{
	static const char *const files[] = {"/hostname", "/hosts", "/resolv.conf"};
	const char *end = strrchr(source, '/'), *id;
	size_t length;
	bool is_one = false;

	for (size_t i = 0; i < ARRAY_SIZE(files) && end; i++)
		is_one |= strcmp(end, files[i]) == 0;
	if (!is_one || source[0] != '/')
		return false;
	id = memrchr(source, '/', (size_t)(end - source));
	length = id ? (size_t)(id - source) : 0;
	if (length <= strlen(DOCKER_CONTAINERS) ||
	    strncmp(id - strlen(DOCKER_CONTAINERS), DOCKER_CONTAINERS, strlen(DOCKER_CONTAINERS)) !=
		    0)
		return false;
	return put(ret_root, size, "%.*s", (int)(length - strlen(DOCKER_CONTAINERS)), source);
}

/* A data root that only the daemon's command line tells is in what the container was started from,
 * by the containerd of the machine or by one of Docker's own. */
static bool docker_name_by_bundle(const char *root, const struct cgroup_name *cgroup,
				  char *ret_name, size_t size)
{
	static const char *const states[] = {CONTAINERD_STATE, "/run/docker/containerd/daemon"};
	char data_root[PATH_MAX];
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(states) && !found; i++) {
		json_t *spec = load(root, "%s" CONTAINERD_TASKS "/moby/%s/config.json", states[i],
				    cgroup->id);
		json_t *mount;
		size_t at;

		json_array_foreach(json_object_get(spec, "mounts"), at, mount)
		{
			const char *source = json_string_value(json_object_get(mount, "source"));

			if (source && cut_to_data_root(source, data_root, sizeof(data_root))) {
				found = docker_name_in(root, data_root, cgroup, ret_name, size);
				break;
			}
		}
		json_decref(spec);
	}
	return found;
}

static bool docker_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			size_t size)
{
	/* The file that may name another place, and the usual one: of packages, and of snaps. */
	static const char *const places[][2] = {
		{"/etc/docker/daemon.json", "/var/lib/docker"},
		{"/var/snap/docker/current/config/daemon.json",
		 "/var/snap/docker/common/var-lib-docker"},
	};
	char home[PATH_MAX], own[PATH_MAX];
	bool found = false;

	if (home_of(root, cgroup, home, sizeof(home)) && home[0] &&
	    snprintf(own, sizeof(own), "%s/.local/share/docker", home) < (int)sizeof(own))
		found = docker_name_in(root, own, cgroup, ret_name, size);
	for (size_t i = 0; i < ARRAY_SIZE(places) && !found; i++) {
		json_t *config = load(root, "%s", places[i][0]);
		const char *data_root = json_string_value(json_object_get(config, "data-root"));

		found = docker_name_in(root,
				       data_root && data_root[0] == '/' ? data_root : places[i][1],
				       cgroup, ret_name, size);
		json_decref(config);
	}
	return found || docker_name_by_bundle(root, cgroup, ret_name, size);
}

/* Arrays of all containers in the storage of the host or of a user; those that are removed when
 * they end (podman run --rm) have a list of their own. */
static bool podman_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			size_t size)
{
	static const char *const lists[] = {"containers", "volatile-containers"};
	char home[PATH_MAX], folder[PATH_MAX];
	bool found = false;

	if (!home_of(root, cgroup, home, sizeof(home)) ||
	    snprintf(folder, sizeof(folder), "%s%s", home,
		     home[0] ? "/.local/share" : "/var/lib") >= (int)sizeof(folder))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(lists) && !found; i++) {
		json_t *list = load(root, "%s/containers/storage/overlay-containers/%s.json",
				    folder, lists[i]);
		json_t *container;
		size_t at;

		json_array_foreach(list, at, container)
		{
			const char *id = json_string_value(json_object_get(container, "id"));
			const char *name = json_string_value(
				json_array_get(json_object_get(container, "names"), 0));

			if (id && name && name[0] && strcmp(id, cgroup->id) == 0) {
				found = put(ret_name, size, "%s", name);
				break;
			}
		}
		json_decref(list);
	}
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

/* nerdctl's names are annotations, too. */
static bool bundle_name(const char *root, const char *state, const char *ns,
			const struct cgroup_name *cgroup, char *ret_name, size_t size)
{
	json_t *spec =
		load(root, "%s" CONTAINERD_TASKS "/%s/%s/config.json", state, ns, cgroup->id);
	const char *name = json_string_value(
		json_object_get(json_object_get(spec, "annotations"), "nerdctl/name"));
	bool found = spec_name(spec, "io.kubernetes.cri.sandbox-namespace",
			       "io.kubernetes.cri.sandbox-name", "io.kubernetes.cri.container-name",
			       ret_name, size);

	if (!found && name && name[0])
		found = put(ret_name, size, "%s", name);
	json_decref(spec);
	return found;
}

/* Clients of containerd choose the names of their namespaces. */
static bool any_bundle_name(const char *root, const char *state, const struct cgroup_name *cgroup,
			    char *ret_name, size_t size)
{
	char path[PATH_MAX];
	bool found = false;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s%s" CONTAINERD_TASKS, root, state);
	folder = opendir(path);
	for (size_t i = 0;
	     folder && !found && i < CONTAINERD_NAMESPACES_MAX && (entry = readdir(folder)); i++)
		found = is_plain(entry->d_name) &&
			bundle_name(root, state, entry->d_name, cgroup, ret_name, size);
	if (folder)
		closedir(folder);
	return found;
}

/* Bundles of containerd: its own, and those of small distributions of Kubernetes. */
static bool containerd_name(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			    size_t size)
{
	static const char *const states[] = {
		CONTAINERD_STATE,
		"/run/k3s/containerd",
		"/run/k0s/containerd",
		"/var/snap/microk8s/common/run/containerd",
	};
	static const char *const namespaces[] = {"k8s.io", "default"};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(states) * ARRAY_SIZE(namespaces) && !found; i++)
		found = bundle_name(root, states[i / ARRAY_SIZE(namespaces)],
				    namespaces[i % ARRAY_SIZE(namespaces)], cgroup, ret_name, size);
	for (size_t i = 0; i < ARRAY_SIZE(states) && !found; i++)
		found = any_bundle_name(root, states[i], cgroup, ret_name, size);
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

static bool find_below(const char *root, const struct cgroup_name *cgroup, char *ret_name,
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
		{"ecs", docker_name},
		{"containerd", containerd_name},
		{"nerdctl", containerd_name},
		{"container", containerd_name},
		{"cri-o", crio_name},
		{NULL, log_name},
		{"containerd", docker_name}, /* the runtime below its clients cannot be seen */
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

/* "": this is the host's own root, or the host's cannot be reached. */
static const char *host_root(void)
{
	struct stat own, first;

	if (stat("/proc/self/ns/mnt", &own) || stat("/proc/1/ns/mnt", &first) ||
	    own.st_ino == first.st_ino)
		return "";
	return "/proc/1/root";
}

bool container_name_find(const char *root, const struct cgroup_name *cgroup, char *ret_name,
			 size_t size)
{
	if (find_below(root, cgroup, ret_name, size))
		return true;
	return !root[0] && host_root()[0] && find_below(host_root(), cgroup, ret_name, size);
}
