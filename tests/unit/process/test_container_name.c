// SPDX-License-Identifier: BSD-2-Clause
/* Tests reading names out of what runtimes leave on disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "process/cgroup/container_name.h"
#include "temp_tree.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-555555555555"

static struct temp_tree tree;

static int setup(void **state)
{
	temp_tree_init(&tree);
	return 0;
}

static int teardown(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

static const char *name_of(const char *path)
{
	static char name[128];
	struct cgroup_name cgroup;

	cgroup_name_parse(path, &cgroup);
	return container_name_find(tree.root, &cgroup, name, sizeof(name)) ? name : NULL;
}

static void docker_keeps_names_in_its_data_root(void **state)
{
	temp_tree_file(&tree, "var/lib/docker/containers/" ID "/config.v2.json",
		       "{\"ID\":\"x\",\"Name\":\"/web-1\"}");
	assert_string_equal(name_of("/docker/" ID), "web-1");
	assert_string_equal(name_of("/system.slice/docker-" ID ".scope"), "web-1");
	/* under a parent of its own nothing tells that it is Docker's */
	assert_string_equal(name_of("/mine/" ID), "web-1");
	temp_tree_file(&tree, "etc/docker/daemon.json", "{\"data-root\":\"/srv/docker\"}");
	assert_null(name_of("/docker/" ID));
	temp_tree_file(&tree, "srv/docker/containers/" ID "/config.v2.json", "{\"Name\":\"/db\"}");
	assert_string_equal(name_of("/docker/" ID), "db");
}

static void docker_is_found_where_only_its_command_line_says(void **state)
{
	static const char *const none[] = {
		"{\"mounts\":7}",
		"{\"mounts\":[{\"source\":\"/containers/x/hostname\"}]}",
		"{\"mounts\":[{\"source\":\"mnt/d/containers/x/hostname\"}]}",
		"{\"mounts\":[{\"source\":\"/hostname\"},{\"source\":\"\"},{\"source\":[]}]}",
		"{\"mounts\":[{\"source\":\"/mnt/d/volumes/x/hostname\"}]}",
		"{\"mounts\":[{\"source\":\"/mnt/d/containers/x/password\"}]}",
	};
	const char *bundle = "run/containerd/io.containerd.runtime.v2.task/moby/" ID "/config.json";

	temp_tree_file(&tree, "mnt/d/containers/" ID "/config.v2.json", "{\"Name\":\"/far\"}");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		temp_tree_file(&tree, bundle, none[i]);
		assert_null(name_of("/docker/" ID));
	}
	temp_tree_file(&tree, bundle,
		       "{\"mounts\":[{\"destination\":\"/proc\",\"source\":\"proc\"},"
		       "{\"destination\":\"/etc/hosts\",\"source\":\"/mnt/d/containers/" ID
		       "/hosts\"}]}");
	assert_string_equal(name_of("/docker/" ID), "far");
	/* Docker's own containerd, and the network of another container */
	temp_tree_file(&tree, "srv/e/containers/e1/config.v2.json", "{\"Name\":\"/beside\"}");
	temp_tree_file(
		&tree,
		"run/docker/containerd/daemon/io.containerd.runtime.v2.task/moby/e1/config.json",
		"{\"mounts\":[{\"source\":\"/srv/e/containers/e0/resolv.conf\"}]}");
	assert_string_equal(name_of("/system.slice/docker-e1.scope"), "beside");
}

static void podman_keeps_a_list(void **state)
{
	temp_tree_file(&tree, "var/lib/containers/storage/overlay-containers/containers.json",
		       "[{\"id\":\"other\",\"names\":[\"no\"]},{\"id\":\"" ID
		       "\",\"names\":[\"cache\"]}]");
	assert_string_equal(name_of("/machine.slice/libpod-" ID ".scope/container"), "cache");
}

static void users_without_root_have_storage_of_their_own(void **state)
{
	const char *path = "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
			   ".scope/container";

	temp_tree_file(&tree, "etc/passwd",
		       "root:x:0:0:root:/root:/bin/sh\nbad\nann:x:1000:1000::/home/ann:/bin/sh\n");
	temp_tree_file(&tree,
		       "home/ann/.local/share/containers/storage/overlay-containers/"
		       "volatile-containers.json",
		       "[{\"id\":\"" ID "\",\"names\":[\"mine\"]}]");
	assert_string_equal(name_of(path), "mine");
	/* below a unit of the user's own */
	assert_string_equal(name_of("/user.slice/user-1000.slice/user@1000.service/app.slice/"
				    "web.service/libpod-payload-" ID),
			    "mine");
	/* user of a container, not of this machine */
	assert_null(name_of("/lxc.payload.c/user.slice/user@1000.service/libpod-" ID ".scope"));
	temp_tree_file(&tree, "home/ann/.local/share/docker/containers/" ID "/config.v2.json",
		       "{\"Name\":\"/own\"}");
	assert_string_equal(
		name_of("/user.slice/user-1000.slice/user@1000.service/app.slice/docker-" ID
			".scope"),
		"own");
}

static void clients_of_docker_and_containerd_have_names_too(void **state)
{
	static const struct {
		const char *file, *text, *path, *name;
	} rows[] = {
		{"var/snap/docker/common/var-lib-docker/containers/a1/config.v2.json",
		 "{\"Name\":\"/snapped\"}", "/system.slice/docker-a1.scope", "snapped"},
		{"var/lib/docker/containers/a2/config.v2.json",
		 "{\"Name\":\"/ecs-shop-3-app-c0ffee\"}",
		 "/ecs/0123456789abcdef0123456789abcdef/a2", "ecs-shop-3-app-c0ffee"},
		{"var/lib/docker/containers/a3/config.v2.json",
		 "{\"Name\":\"/k8s_app_cart-0_shop_" POD "_0\"}", "/kubepods/pod" POD "/a3",
		 "shop/cart-0/app"},
		{"var/lib/docker/containers/a4/config.v2.json", "{\"Name\":\"/k8s_app\"}",
		 "/system.slice/docker-a4.scope", "k8s_app"},
		{"run/containerd/io.containerd.runtime.v2.task/default/a5/config.json",
		 "{\"annotations\":{\"nerdctl/name\":\"web\"}}", "/system.slice/nerdctl-a5.scope",
		 "web"},
		{"run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/a6/config.json",
		 "{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"shop\",\"io."
		 "kubernetes.cri.sandbox-name\":\"cart-1\"}}",
		 "/kubepods/pod" POD "/a6", "shop/cart-1/(sandbox)"},
		{"run/containerd/io.containerd.runtime.v2.task/mine/" ID "/config.json",
		 "{\"annotations\":{\"nerdctl/name\":\"shop\"}}", "/mine/" ID, "shop"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		temp_tree_file(&tree, rows[i].file, rows[i].text);
		assert_string_equal(name_of(rows[i].path), rows[i].name);
	}
}

static void kubernetes_names_come_from_the_specification(void **state)
{
	temp_tree_file(&tree,
		       "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		       "{\"annotations\":{\"io.kubernetes.cri.sandbox-namespace\":\"shop\",\"io."
		       "kubernetes.cri.sandbox-name\":"
		       "\"cart-0\",\"io.kubernetes.cri.container-name\":\"app\"}}");
	assert_string_equal(name_of("/kubepods/burstable/pod" POD "/" ID), "shop/cart-0/app");
	temp_tree_file(&tree,
		       "var/lib/containers/storage/overlay-containers/" ID "/userdata/config.json",
		       "{\"annotations\":{\"io.kubernetes.pod.namespace\":\"shop\",\"io.kubernetes."
		       "pod.name\":\"cart-1\"}}");
	assert_string_equal(name_of("/kubepods/besteffort/pod" POD "/crio-" ID),
			    "shop/cart-1/(sandbox)");
}

static void kubernetes_names_come_from_the_logs_else(void **state)
{
	temp_tree_folder(&tree, "var/log/pods/shop_cart-2_" POD);
	assert_string_equal(name_of("/kubepods/burstable/pod" POD "/" ID), "shop/cart-2");
	temp_tree_file(&tree, "var/log/containers/cart-2_shop_app-" ID ".log", "");
	assert_string_equal(name_of("/kubepods/burstable/pod" POD "/" ID), "shop/cart-2/app");
}

static void what_is_not_understood_has_no_name(void **state)
{
	static const char *const configs[] = {
		"",
		"{",
		"[]",
		"{\"Name\":7}",
		"{\"Name\":\"\"}",
		"{\"Name\":\"/\"}",
		"{\"Name\":null}",
		"\"Name\"",
	};

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		temp_tree_file(&tree, "var/lib/docker/containers/" ID "/config.v2.json",
			       configs[i]);
		assert_null(name_of("/docker/" ID));
	}
	assert_null(name_of("/system.slice/x.service"));
	assert_null(name_of("/docker/.."));
	assert_null(name_of("/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(docker_keeps_names_in_its_data_root),
		TEST(docker_is_found_where_only_its_command_line_says),
		TEST(podman_keeps_a_list),
		TEST(users_without_root_have_storage_of_their_own),
		TEST(clients_of_docker_and_containerd_have_names_too),
		TEST(kubernetes_names_come_from_the_specification),
		TEST(kubernetes_names_come_from_the_logs_else),
		TEST(what_is_not_understood_has_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
