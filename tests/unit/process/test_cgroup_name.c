// SPDX-License-Identifier: BSD-2-Clause
/* Tests which container or unit the paths of runtimes mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "process/cgroup/cgroup_name.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "11111111-2222-3333-4444-555555555555"
#define UID_ "11111111_2222_3333_4444_555555555555"

struct row {
	const char *path, *runtime, *id, *pod_uid, *unit, *display;
};

static const struct row rows[] = {
	{"/", NULL, "", "", "", "/"},
	{"", NULL, "", "", "", ""},
	{"/docker/" ID, "docker", ID, "", "", "docker:0123456789ab"},
	/* builds: a container each, below a folder that is none */
	{"/docker/buildkit/r4d0yw2ozf4q", "buildkit", "r4d0yw2ozf4q", "", "",
	 "buildkit:r4d0yw2ozf4q"},
	{"/docker/buildkit", NULL, "", "", "", "/docker/buildkit"},
	{"/buildkit/0w9x8c7v", "buildkit", "0w9x8c7v", "", "", "buildkit:0w9x8c7v"},
	{"/docker/" ID "/buildkit/0w9x8c7v", "buildkit", "0w9x8c7v", "", "", "buildkit:0w9x8c7v"},
	{"/ecs/0123456789abcdef0123456789abcdef/" ID, "ecs", ID, "", "", "ecs:0123456789ab"},
	{"/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-4186", "ecs",
	 "0123456789abcdef0123456789abcdef-4186", "", "",
	 "ecs:0123456789abcdef0123456789abcdef-4186"},
	{"/ecs/0123456789abcdef0123456789abcdef", NULL, "", "", "", NULL},
	{"/ecstasks.slice/ecstasks-0123456789abcdef.slice/docker-" ID ".scope", "docker", ID, "",
	 "", "docker:0123456789ab"},
	{"/docker/other", NULL, "", "", "", "/docker/other"},
	{"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", "machine", "qemu-1-web", "", "",
	 "machine:qemu-1-web"},
	/* An id is no path. */
	{"/machine.slice/machine-a\\x2fb.scope", "machine", "a\\x2fb", "", "", "machine:a\\x2fb"},
	{"/docker/" ID "/system.slice/cron.service", "docker", ID, "", "cron.service",
	 "docker:0123456789ab"},
	{"/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	 ".slice/cri-containerd-c0ffee.scope",
	 "containerd", "c0ffee", UID, "", "containerd:c0ffee"},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	 "podman", ID, "", "user@1000.service", "podman:0123456789ab"},
	{"/libpod_parent/conmon", NULL, "", "", "", "/libpod_parent/conmon"},
	{"/system.slice/docker-" ID ".scope", "docker", ID, "", "", "docker:0123456789ab"},
	{"/mine/" ID, "container", ID, "", "", "container:0123456789ab"},
	{"/kubepods/burstable/pod" UID "/" ID, "containerd", ID, UID, "",
	 "containerd:0123456789ab"},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 "containerd", ID, UID, "", "containerd:0123456789ab"},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice:cri-containerd:" ID, "containerd", ID, "", "",
	 "containerd:0123456789ab"},
	{"/kubepods/besteffort/pod" UID "/crio-" ID, "cri-o", ID, UID, "", "cri-o:0123456789ab"},
	{"/kubepods/besteffort/pod" UID "/crio-conmon-" ID, NULL, "", UID, "", NULL},
	{"/k8s.io/c2", "containerd", "c2", "", "", "containerd:c2"},
	{"/default/c1", "containerd", "c1", "", "", "containerd:c1"},
	{"/system.slice/nerdctl-" ID ".scope", "nerdctl", ID, "", "", "nerdctl:0123456789ab"},
	{"/machine.slice/libpod-" ID ".scope/container", "podman", ID, "", "",
	 "podman:0123456789ab"},
	{"/libpod_parent/libpod-" ID, "podman", ID, "", "", "podman:0123456789ab"},
	{"/system.slice/web.service/libpod-payload-" ID, "podman", ID, "", "web.service",
	 "podman:0123456789ab"},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL, "", "", "libpod-conmon-" ID ".scope",
	 NULL},
	{"/lxc.payload.web", "lxc", "web", "", "", "lxc:web"},
	{"/lxc.monitor.web", NULL, "", "", "", "/lxc.monitor.web"},
	{"/lxc/old", "lxc", "old", "", "", "lxc:old"},
	{"/machine.slice/systemd-nspawn@deb.service/payload", "nspawn", "deb", "", "",
	 "nspawn:deb"},
	{"/system.slice/postgresql@15-main.service", NULL, "", "", "postgresql@15-main.service",
	 "postgresql@15-main.service"},
	{"/system.slice/dev-disk-by\\x2duuid.swap", NULL, "", "", "dev-disk-by-uuid.swap",
	 "dev-disk-by-uuid.swap"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app.service", NULL, "", "",
	 "app.service", "app.service"},
	{"/user.slice/user-0.slice/session-3.scope", NULL, "", "", "session-3.scope",
	 "session-3.scope"},
	/* a container in a container: the inner one */
	{"/docker/" ID "/kubelet/kubepods/pod" UID "/c0ffee", "containerd", "c0ffee", UID, "",
	 "containerd:c0ffee"},
	{"/system.slice/bad\\x00name.service", NULL, "", "", "bad\\x00name.service", NULL},
	{"/system.slice/cut\\x2", NULL, "", "", "", "/system.slice/cut\\x2"},
	{"/.service", NULL, "", "", "", NULL},
	{"/docker-.scope", NULL, "", "", "docker-.scope", NULL},
};

static void paths_mean_containers_and_units(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct cgroup_name name;
		char text[512];

		cgroup_name_parse(row->path, &name);
		if (!row->runtime != !name.runtime ||
		    (row->runtime && strcmp(row->runtime, name.runtime) != 0))
			fail_msg("%s: runtime %s", row->path, name.runtime ? name.runtime : "none");
		assert_string_equal(name.id, row->id);
		assert_string_equal(name.pod_uid, row->pod_uid);
		assert_string_equal(name.unit, row->unit);
		cgroup_name_display(&name, row->path, text, sizeof(text));
		if (row->display)
			assert_string_equal(text, row->display);
	}
}

static void longer_elements_than_a_file_system_has_are_cut(void **state)
{
	char path[2048];
	struct cgroup_name name;

	memset(path, 'a', sizeof(path));
	memcpy(path, "/default/", 9);
	path[sizeof(path) - 1] = '\0';
	cgroup_name_parse(path, &name);
	assert_string_equal(name.runtime, "containerd");
	assert_int_equal(strlen(name.id), CGROUP_NAME_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_mean_containers_and_units),
		cmocka_unit_test(longer_elements_than_a_file_system_has_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
