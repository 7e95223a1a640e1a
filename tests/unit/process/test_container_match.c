// SPDX-License-Identifier: BSD-2-Clause
/* Tests by which texts containers and units are chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "process/cgroup/container_match.h"
#include "temp_tree.h"

#define ID  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-555555555555"

static struct temp_tree tree;

static int setup(void **state)
{
	temp_tree_init(&tree);
	temp_tree_file(&tree, "var/lib/docker/containers/" ID "/config.v2.json",
		       "{\"Name\":\"/web-1\"}");
	temp_tree_file(&tree, "var/log/containers/cart-2_shop_app-" ID ".log", "");
	return 0;
}

static int teardown(void **state)
{
	temp_tree_done(&tree);
	return 0;
}

static void directories_of_containers_and_units_are_known(void **state)
{
	static const struct {
		const char *path, *label;
	} rows[] = {
		{"", NULL},
		{"/docker", NULL},
		{"/docker/" ID, "docker:web-1"},
		{"/docker/" ID "/init.scope", "init.scope"},
		{"/docker/" ID "/payload", NULL},
		{"/kubepods/pod" POD, NULL},
		{"/kubepods/pod" POD "/" ID, "containerd:shop/cart-2/app"},
		{"/system.slice", NULL},
		{"/system.slice/nginx.service", "nginx.service"},
		{"/system.slice/nginx.service/workers", NULL},
		{"/lxc.payload.db/system.slice/nginx.service", "nginx.service"},
		{"/lxc.payload.db", "lxc:db"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct container container;

		assert_int_equal(container_at(tree.root, rows[i].path, &container),
				 rows[i].label != NULL);
		if (rows[i].label)
			assert_string_equal(container.label, rows[i].label);
	}
}

static void they_are_chosen_by_name_or_id(void **state)
{
	static const struct {
		const char *path, *text;
		enum container_match match;
	} rows[] = {
		{"/docker/" ID, "web-1", CONTAINER_IS_NAMED},
		{"/docker/" ID, "docker:web-1", CONTAINER_IS_NAMED},
		{"/docker/" ID, "podman:web-1", CONTAINER_DIFFERS},
		{"/docker/" ID, "web", CONTAINER_DIFFERS},
		{"/docker/" ID, "web*", CONTAINER_IS_NAMED},
		{"/docker/" ID, "docker:*", CONTAINER_IS_NAMED},
		{"/docker/" ID, "docker:", CONTAINER_DIFFERS},
		{"/docker/" ID, ID, CONTAINER_IS_NAMED},
		{"/docker/" ID, "0123456789ab", CONTAINER_HAS_ID_PREFIX},
		{"/docker/" ID, "docker:012", CONTAINER_HAS_ID_PREFIX},
		{"/docker/" ID, "01", CONTAINER_DIFFERS},
		{"/kubepods/pod" POD "/" ID, "shop/cart-2/app", CONTAINER_IS_NAMED},
		{"/kubepods/pod" POD "/" ID, "shop/cart-2", CONTAINER_IS_NAMED},
		{"/kubepods/pod" POD "/" ID, "cart-2/app", CONTAINER_IS_NAMED},
		{"/kubepods/pod" POD "/" ID, "cart-2", CONTAINER_IS_NAMED},
		{"/kubepods/pod" POD "/" ID, "cart", CONTAINER_DIFFERS},
		{"/kubepods/pod" POD "/" ID, "shop/*", CONTAINER_IS_NAMED},
		{"/kubepods/pod" POD "/" ID, POD, CONTAINER_IS_NAMED},
		{"/system.slice/nginx.service", "nginx.service", CONTAINER_IS_NAMED},
		{"/system.slice/nginx.service", "nginx*", CONTAINER_IS_NAMED},
		{"/system.slice/nginx.service", "ngi", CONTAINER_DIFFERS},
		{"/lxc.payload.db", "db", CONTAINER_IS_NAMED},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct container container;

		assert_true(container_at(tree.root, rows[i].path, &container));
		if (container_match(rows[i].text, &container) != rows[i].match)
			fail_msg("%s for %s", rows[i].text, rows[i].path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directories_of_containers_and_units_are_known),
		cmocka_unit_test(they_are_chosen_by_name_or_id),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
