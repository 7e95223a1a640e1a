// SPDX-License-Identifier: BSD-2-Clause
/* Tests that block devices get the names that sysfs has for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_profile.h"
#include "profile/account/device_names.h"
#include "temp_tree.h"

#define VDA (254U << 20)
#define SDB (8U << 20 | 16)

static void request(struct profile *profile, uint32_t device)
{
	struct distribution_key key = {.kind = PKBPF_PROFILE_BLOCKIO, .device = device, .state = 1};
	struct distribution_change change = {.count = 1};

	assert_int_equal(profile_add_distribution(profile, &key, &change), 0);
}

static void names_come_from_the_uevent_file(void **state)
{
	struct temp_tree tree;
	struct fake_profile fake;

	temp_tree_init(&tree);
	fake_profile_init(&fake, NULL);
	request(fake.profile, VDA);
	request(fake.profile, SDB);
	temp_tree_file(&tree, "dev/block/254:0/uevent",
		       "MAJOR=254\nMINOR=0\nDEVNAME=vda\nDEVTYPE=disk\n");
	profile_name_devices(fake.profile, tree.root);
	assert_string_equal(profile_device_name(fake.profile, VDA), "vda");
	assert_null(profile_device_name(fake.profile, SDB));
	fake_profile_done(&fake);
	temp_tree_done(&tree);
}

static void a_file_without_a_name_leaves_the_device_without_one(void **state)
{
	struct temp_tree tree;
	struct fake_profile fake;

	temp_tree_init(&tree);
	fake_profile_init(&fake, NULL);
	request(fake.profile, VDA);
	temp_tree_file(&tree, "dev/block/254:0/uevent", "MAJOR=254\n");
	profile_name_devices(fake.profile, tree.root);
	assert_null(profile_device_name(fake.profile, VDA));
	fake_profile_done(&fake);
	temp_tree_done(&tree);
}

static void a_device_that_has_gone_keeps_the_name_it_had(void **state)
{
	struct device_names names = {0};
	struct temp_tree tree, empty;
	struct fake_profile fake;

	temp_tree_init(&tree);
	temp_tree_init(&empty);
	fake_profile_init(&fake, NULL);
	temp_tree_file(&tree, "dev/block/254:0/uevent", "DEVNAME=vda\n");
	temp_tree_file(&tree, "dev/block/none/uevent", "DEVNAME=none\n");
	device_names_note(&names, tree.root);
	device_names_note(&names, empty.root);
	device_names_note(&names, tree.root);
	assert_int_equal(names.items.count, 1);
	request(fake.profile, VDA);
	device_names_give(&names, fake.profile);
	profile_name_devices(fake.profile, empty.root);
	assert_string_equal(profile_device_name(fake.profile, VDA), "vda");
	device_names_done(&names);
	fake_profile_done(&fake);
	temp_tree_done(&empty);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_from_the_uevent_file),
		cmocka_unit_test(a_device_that_has_gone_keeps_the_name_it_had),
		cmocka_unit_test(a_file_without_a_name_leaves_the_device_without_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
