// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/served_mounts: which file systems may not answer, told by what mountinfo says
 * of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/file/served_mounts.h"
#include "temp_tree.h"

struct fixture {
	struct temp_tree tree;
	struct served_mounts *mounts;
};

static const char ours[] =
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"22 21 0:20 / /home rw shared:2 master:3 - nfs4 server:/home rw,vers=4.2\n"
	"23 21 0:31 / /mnt/with\\040space rw - fuse.sshfs me@there:/ rw\n"
	"24 21 0:32 / /tmp rw - tmpfs tmpfs rw\n";

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	temp_tree_init(&fixture->tree);
	temp_tree_file(&fixture->tree, "proc/self/mountinfo", ours);
	temp_tree_file(&fixture->tree, "proc/7/mountinfo",
		       "90 1 0:44 / / rw - fuse.fuse-overlayfs fuse-overlayfs rw\n"
		       "91 90 0:45 / /data rw - xfs /dev/sdb1 rw\n");
	fixture->mounts = served_mounts_new(fixture->tree.root);
	*state = fixture;
	return fixture->mounts ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	served_mounts_free(fixture->mounts);
	temp_tree_done(&fixture->tree);
	free(fixture);
	return 0;
}

static void programs_and_other_machines_serve(void **state)
{
	static const char *const served[] = {"fuse", "fuseblk", "fuse.bindfs", "nfs",
					     "nfs4", "cifs",	"smb3",	       "9p",
					     "ceph", "afs",	"lustre"};
	static const char *const local[] = {"ext4",	"xfs",	   "btrfs", "tmpfs", "overlay",
					    "squashfs", "fusectl", "proc",  ""};

	for (size_t i = 0; i < sizeof(served) / sizeof(served[0]); i++)
		assert_true(served_mounts_is_served_type(served[i]));
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		assert_false(served_mounts_is_served_type(local[i]));
}

static void a_device_is_what_a_mount_of_it_says(void **state)
{
	struct fixture *fixture = *state;

	assert_false(served_mounts_has_device(fixture->mounts, 0, 8, 1));
	assert_false(served_mounts_has_device(fixture->mounts, 7, 0, 32));
	assert_true(served_mounts_has_device(fixture->mounts, 0, 0, 20));
	assert_true(served_mounts_has_device(fixture->mounts, 7, 0, 31));
}

static void a_device_may_be_mounted_for_the_process_alone(void **state)
{
	struct fixture *fixture = *state;

	assert_true(served_mounts_has_device(fixture->mounts, 7, 0, 44));
	assert_false(served_mounts_has_device(fixture->mounts, 7, 0, 45));
}

static void nobody_knows_who_serves_a_device_that_is_not_mounted(void **state)
{
	struct fixture *fixture = *state;

	assert_true(served_mounts_has_device(fixture->mounts, 7, 0, 99));
	assert_true(served_mounts_has_device(fixture->mounts, 4711, 0, 98));
}

static bool root_is_served(struct fixture *fixture)
{
	struct stat status;

	assert_int_equal(stat(fixture->tree.root, &status), 0);
	return served_mounts_has_device(fixture->mounts, 0, major(status.st_dev),
					minor(status.st_dev));
}

static void what_our_root_lies_on_is_there_though_a_chroot_hides_its_mount(void **state)
{
	struct fixture *fixture = *state;

	temp_tree_file(&fixture->tree, "proc/self/mountinfo", strchr(ours, '\n') + 1);
	assert_false(root_is_served(fixture));
}

/* Its server may not answer. */
static void our_root_is_not_asked_where_its_mount_is_shown(void **state)
{
	assert_true(root_is_served(*state));
}

static void memfds_are_nobody_elses(void **state)
{
	struct fixture *fixture = *state;
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	assert_false(served_mounts_has_device(fixture->mounts, 7, major(status.st_dev),
					      minor(status.st_dev)));
	close(fd);
}

static void a_path_may_lead_through_one(void **state)
{
	struct fixture *fixture = *state;
	uint64_t device = 0;

	assert_true(served_mounts_on_path(fixture->mounts, 0, "/home/me/bin/app", &device));
	assert_int_equal(device, served_mounts_device(0, 20));
	assert_true(served_mounts_on_path(fixture->mounts, 0, "/mnt/with space/lib.so", &device));
	assert_int_equal(device, served_mounts_device(0, 31));
	assert_false(served_mounts_on_path(fixture->mounts, 0, "/homestead/app", &device));
	assert_false(served_mounts_on_path(fixture->mounts, 0, "/usr/bin/app", &device));
	/* All paths of a process do whose root is one, also to what is mounted in it. */
	assert_true(served_mounts_on_path(fixture->mounts, 7, "/data/app", &device));
	assert_int_equal(device, served_mounts_device(0, 44));
	assert_false(served_mounts_on_path(fixture->mounts, 4711, "/home/me/bin/app", &device));
}

static void people_are_told_where_it_is_mounted(void **state)
{
	struct fixture *fixture = *state;
	char text[64];

	served_mounts_describe(fixture->mounts, 0, served_mounts_device(0, 31), text, sizeof(text));
	assert_string_equal(text, "/mnt/with space (fuse.sshfs)");
	served_mounts_describe(fixture->mounts, 7, served_mounts_device(0, 44), text, sizeof(text));
	assert_string_equal(text, "/ (fuse.fuse-overlayfs)");
	served_mounts_describe(fixture->mounts, 7, served_mounts_device(0, 99), text, sizeof(text));
	assert_string_equal(text, "device 0:99");
}

static void without_procfs_nothing_is_believed_to_be_served(void **state)
{
	struct temp_tree tree;
	struct served_mounts *mounts;

	temp_tree_init(&tree);
	mounts = served_mounts_new(tree.root);
	assert_non_null(mounts);
	assert_false(served_mounts_has_device(mounts, 7, 0, 99));
	served_mounts_free(mounts);
	temp_tree_done(&tree);
}

static void garbage_in_mountinfo_is_passed_over(void **state)
{
	struct temp_tree tree;
	struct served_mounts *mounts;
	uint64_t device;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "proc/self/mountinfo",
		       "\n1\n1 2 x / /a rw - fuse\n1 2 3:4 /\n- - - - - fuse\n1 2 8:1 / "
		       "/\\9\\777\\04 rw -\n"
		       "5 2 8:2 / /b rw - ext4 x rw");
	mounts = served_mounts_new(tree.root);
	assert_non_null(mounts);
	assert_false(served_mounts_has_device(mounts, 0, 8, 2));
	assert_false(served_mounts_on_path(mounts, 0, "/c", &device));
	served_mounts_free(mounts);
	temp_tree_done(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_and_other_machines_serve),
		cmocka_unit_test_setup_teardown(a_device_is_what_a_mount_of_it_says, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_device_may_be_mounted_for_the_process_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			nobody_knows_who_serves_a_device_that_is_not_mounted, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_our_root_lies_on_is_there_though_a_chroot_hides_its_mount, setup,
			teardown),
		cmocka_unit_test_setup_teardown(our_root_is_not_asked_where_its_mount_is_shown,
						setup, teardown),
		cmocka_unit_test_setup_teardown(memfds_are_nobody_elses, setup, teardown),
		cmocka_unit_test_setup_teardown(a_path_may_lead_through_one, setup, teardown),
		cmocka_unit_test_setup_teardown(people_are_told_where_it_is_mounted, setup,
						teardown),
		cmocka_unit_test(without_procfs_nothing_is_believed_to_be_served),
		cmocka_unit_test(garbage_in_mountinfo_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
