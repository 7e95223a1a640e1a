// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mapped_file_open: the right contents, or none, whatever the target did to its
 * names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mapped_file_fixture.h"
#include "process/procfs_maps.h"

static void assert_contents(int fd, const char *text)
{
	char buffer[64] = "";

	assert_true(fd >= 0);
	assert_true(pread(fd, buffer, sizeof(buffer) - 1, 0) >= 0);
	assert_string_equal(buffer, text);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static void opens_what_is_mapped_even_when_its_name_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "storage/inode", "old contents");
	temp_tree_link(&fixture->tree, "proc/7/map_files/1000-2000",
		       temp_tree_path(&fixture->tree, "storage/inode"));
	temp_tree_file(&fixture->tree, "proc/7/root/usr/bin/app", "new contents");
	file = map_file(fixture, "storage/inode", "/usr/bin/app (deleted)");
	assert_contents(mapped_file_open(fixture->table, file), "old contents");
	assert_false(file->identity_unsure);
}

static void opens_by_path_in_the_processs_own_root(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "proc/7/root/usr/bin/app", "in the container");
	temp_tree_file(&fixture->tree, "usr/bin/app", "on the host");
	file = map_file(fixture, "proc/7/root/usr/bin/app", "/usr/bin/app");
	assert_contents(mapped_file_open(fixture->table, file), "in the container");
}

static void opens_by_path_in_our_own_root_when_the_process_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "usr/bin/app", "on the host");
	file = map_file(fixture, "usr/bin/app", "/usr/bin/app");
	assert_contents(mapped_file_open(fixture->table, file), "on the host");
	assert_false(file->identity_unsure);
}

static void a_name_may_end_like_those_of_deleted_files(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "proc/7/root/usr/bin/app", "another file");
	temp_tree_file(&fixture->tree, "proc/7/root/usr/bin/app (deleted)", "contents");
	file = map_file(fixture, "proc/7/root/usr/bin/app (deleted)", "/usr/bin/app (deleted)");
	assert_contents(mapped_file_open(fixture->table, file), "contents");
}

static void older_witness_helps_when_the_newest_is_gone(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;
	struct mapping_view view;

	temp_tree_file(&fixture->tree, "storage/inode", "contents");
	temp_tree_link(&fixture->tree, "proc/7/map_files/1000-2000",
		       temp_tree_path(&fixture->tree, "storage/inode"));
	file = map_file(fixture, "storage/inode", "/app");
	view = (struct mapping_view){.inode = file->inode,
				     .device_major = file->device_major,
				     .device_minor = file->device_minor,
				     .path = "/app"};
	for (view.pid = 1000; view.pid < 1100; view.pid++) {
		struct mapped_file *same = NULL;

		view.start = view.pid * 0x1000ULL;
		view.end = view.start + 0x1000;
		assert_int_equal(mapped_file_table_add(fixture->table, &view, &same), 0);
		assert_ptr_equal(same, file);
	}
	assert_contents(mapped_file_open(fixture->table, file), "contents");
}

static void refuses_a_file_that_has_been_replaced(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "storage/inode", "mapped");
	temp_tree_file(&fixture->tree, "proc/7/root/app", "replacement");
	temp_tree_file(&fixture->tree, "app", "another");
	file = map_file(fixture, "storage/inode", "/app");
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
}

static void refuses_the_mapping_of_a_process_that_got_the_pid_later(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_file(&fixture->tree, "storage/mapped", "mapped");
	temp_tree_file(&fixture->tree, "storage/stranger", "stranger");
	temp_tree_link(&fixture->tree, "proc/7/map_files/1000-2000",
		       temp_tree_path(&fixture->tree, "storage/stranger"));
	file = map_file(fixture, "storage/mapped", "/app");
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
}

static void trusts_the_mapping_when_only_its_path_fits(void **state)
{
	struct fixture *fixture = *state;
	struct mapping_view view = {.pid = 7, .start = 0x1000, .end = 0x2000};
	struct mapped_file *file = NULL;
	struct stat status;
	const char *path;

	/* overlayfs: maps shows number and device of the lower file, the link leads to the merged
	 * one */
	temp_tree_file(&fixture->tree, "storage/lower", "unused");
	status = temp_tree_stat(&fixture->tree, "storage/lower");
	view.inode = status.st_ino;
	view.device_major = major(status.st_dev);
	view.device_minor = minor(status.st_dev) + 1;
	temp_tree_file(&fixture->tree, "merged/app", "merged");
	path = temp_tree_path(&fixture->tree, "merged/app");
	temp_tree_link(&fixture->tree, "proc/7/map_files/1000-2000", path);
	view.path = path;
	assert_int_equal(mapped_file_table_add(fixture->table, &view, &file), 0);
	assert_contents(mapped_file_open(fixture->table, file), "merged");
	/* On the same device, it is a newer version that was executed at the same address. */
	file = map_file(fixture, "storage/lower", path);
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
}

static void is_unsure_when_only_the_device_differs(void **state)
{
	struct fixture *fixture = *state;
	struct stat status;
	struct mapping_view view = {.pid = 7, .start = 0x1000, .end = 0x2000, .path = "/app"};
	struct mapped_file *file = NULL;

	temp_tree_file(&fixture->tree, "proc/7/root/app", "subvolume");
	status = temp_tree_stat(&fixture->tree, "proc/7/root/app");
	view.inode = status.st_ino;
	view.device_major = major(status.st_dev);
	view.device_minor = minor(status.st_dev) + 1;
	assert_int_equal(mapped_file_table_add(fixture->table, &view, &file), 0);
	assert_contents(mapped_file_open(fixture->table, file), "subvolume");
	assert_true(file->identity_unsure);
}

static void symbolic_links_resolve_inside_the_processs_root(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *inside, *outside;

	temp_tree_file(&fixture->tree, "proc/7/root/usr/lib/x.so", "inside");
	temp_tree_link(&fixture->tree, "proc/7/root/lib", "/usr/lib");
	inside = map_file(fixture, "proc/7/root/usr/lib/x.so", "/lib/x.so");
	assert_contents(mapped_file_open(fixture->table, inside), "inside");

	/* Numbers that fit a file of the host, and links that lead to it: absolute and by climbing
	 * up. */
	temp_tree_file(&fixture->tree, "host/secret", "secret");
	temp_tree_link(&fixture->tree, "proc/7/root/evil",
		       temp_tree_path(&fixture->tree, "host/secret"));
	temp_tree_link(&fixture->tree, "proc/7/root/climb", "../../../host/secret");
	outside = map_file(fixture, "host/secret", "/evil");
	assert_int_equal(mapped_file_open(fixture->table, outside), -ENOENT);
	outside = map_file(fixture, "host/secret", "/climb");
	assert_int_equal(mapped_file_open(fixture->table, outside), -ENOENT);
	outside = map_file(fixture, "host/secret", "/../../../host/secret");
	/* Our own root may hold that path; the process's root must not have led there. */
	unlink(temp_tree_path(&fixture->tree, "host/secret"));
	assert_int_equal(mapped_file_open(fixture->table, outside), -ENOENT);
}

/* From here on openat2() does not exist for this process. */
static void forbid_openat2(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(10);
}

static void without_openat2_no_link_is_followed_and_no_way_leads_up(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *plain, *link, *parent_link, *climbing;
	int status;
	pid_t child;

	temp_tree_file(&fixture->tree, "proc/7/root/usr/lib/x.so", "inside");
	temp_tree_file(&fixture->tree, "host/secret", "secret");
	temp_tree_link(&fixture->tree, "proc/7/root/evil",
		       temp_tree_path(&fixture->tree, "host/secret"));
	temp_tree_link(&fixture->tree, "proc/7/root/lib", temp_tree_path(&fixture->tree, "host"));
	plain = map_file(fixture, "proc/7/root/usr/lib/x.so", "/usr//lib/x.so");
	link = map_file(fixture, "host/secret", "/evil");
	parent_link = map_file(fixture, "host/secret", "/lib/secret");
	climbing = map_file(fixture, "host/secret", "/usr/../../../../host/secret");
	child = fork();
	if (child == 0) {
		char text[16] = "";
		int fd;

		forbid_openat2();
		fd = mapped_file_open(fixture->table, plain);
		if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) != 6 ||
		    strcmp(text, "inside") != 0)
			_exit(1);
		if (mapped_file_open(fixture->table, link) != -ENOENT)
			_exit(2);
		if (mapped_file_open(fixture->table, parent_link) != -ENOENT)
			_exit(3);
		if (mapped_file_open(fixture->table, climbing) != -ENOENT)
			_exit(4);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void neither_opens_nor_waits_for_what_is_no_regular_file(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;

	temp_tree_folder(&fixture->tree, "proc/7/root/folder");
	assert_int_equal(mkfifo(temp_tree_path(&fixture->tree, "proc/7/root/fifo"), 0600), 0);
	file = map_file(fixture, "proc/7/root/fifo", "/fifo");
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
	file = map_file(fixture, "proc/7/root/folder", "/folder");
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
}

static void of_what_somebody_else_serves_a_copy_is_opened(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;
	struct stat status;
	char line[64];
	int fd;

	temp_tree_file(&fixture->tree, "proc/7/root/app", "served");
	status = temp_tree_stat(&fixture->tree, "proc/7/root/app");
	snprintf(line, sizeof(line), "21 1 %u:%u / / rw - nfs4 server:/ rw\n", major(status.st_dev),
		 minor(status.st_dev));
	temp_tree_file(&fixture->tree, "proc/self/mountinfo", line);
	mapped_file_table_free(fixture->table);
	fixture->table = mapped_file_table_new(fixture->tree.root);
	file = map_file(fixture, "proc/7/root/app", "/app");
	assert_contents(mapped_file_open(fixture->table, file), "served");
	assert_false(file->identity_unsure);
	assert_int_equal(unlink(temp_tree_path(&fixture->tree, "proc/7/root/app")), 0);
	fd = mapped_file_open(fixture->table, file);
	assert_contents(fd, "served");
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_not_equal(status.st_ino, file->inode);
}

static void failure_is_remembered_until_another_mapping_is_seen(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file *file;
	struct mapping_view view;

	temp_tree_file(&fixture->tree, "storage/inode", "contents");
	file = map_file(fixture, "storage/inode", "/app");
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
	temp_tree_link(&fixture->tree, "proc/8/map_files/1000-2000",
		       temp_tree_path(&fixture->tree, "storage/inode"));
	assert_int_equal(mapped_file_open(fixture->table, file), -ENOENT);
	view = (struct mapping_view){.pid = 8,
				     .start = 0x1000,
				     .end = 0x2000,
				     .inode = file->inode,
				     .device_major = file->device_major,
				     .device_minor = file->device_minor,
				     .path = "/app"};
	assert_int_equal(mapped_file_table_add(fixture->table, &view, &file), 0);
	assert_contents(mapped_file_open(fixture->table, file), "contents");
}

static void reads_the_vdso_image(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct mapping_view view = {.pid = 0x7ffffffe, .start = start, .path = "[vdso]"};
	struct mapped_file *file = NULL;
	void *image = NULL;
	size_t size = 0;

	/* A process that is gone, with an image as large as ours: ours will do. */
	for (view.end = start + 0x1000; view.end <= start + 0x8000; view.end += 0x1000) {
		assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
		if (mapped_file_read_vdso(table, file, &image, &size) == 0)
			break;
	}
	assert_non_null(image);
	assert_int_equal(size, view.end - view.start);
	assert_memory_equal(image,
			    "\x7f"
			    "ELF",
			    4);
	assert_memory_equal(image, (const void *)(uintptr_t)start, size);
	free(image);
	mapped_file_table_free(table);
}

static void reads_a_vdso_unlike_ours_from_the_process_that_maps_it(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	const size_t expected = 16 * 4096;
	char *other =
		mmap(NULL, expected, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mapping_view view = {.pid = (uint32_t)getpid(),
				    .start = (uint64_t)(uintptr_t)other,
				    .end = (uint64_t)(uintptr_t)other + expected,
				    .path = "[vdso]"};
	struct mapped_file *file = NULL;
	void *image = NULL;
	size_t size = 0;

	memset(other, 'v', expected);
	assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
	assert_int_equal(mapped_file_read_vdso(table, file, &image, &size), 0);
	assert_int_equal(size, expected);
	assert_memory_equal(image, other, expected);
	free(image);
	munmap(other, expected);
	view.end = view.start + (1 << 30);
	assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
	assert_int_equal(mapped_file_read_vdso(table, file, &image, &size), -EFBIG);
	mapped_file_table_free(table);
}

struct own_mapping {
	uint64_t start;
	struct procfs_mapping found;
};

static void find_own_mapping(void *context, const struct procfs_mapping *mapping)
{
	struct own_mapping *own = context;

	if (mapping->start == own->start)
		own->found = *mapping;
}

/* Needs root: only the kernel's own map_files shows files without a name. */
static void opens_memfds_and_unlinked_files_of_live_processes(void **state)
{
	struct fixture *fixture = *state;
	struct mapped_file_table *table = mapped_file_table_new("");
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY), fds[2];

	if (geteuid() != 0) {
		close(proc_fd);
		mapped_file_table_free(table);
		skip();
	}
	temp_tree_file(&fixture->tree, "library", "unlinked");
	fds[0] = memfd_create("jit", MFD_CLOEXEC);
	assert_int_equal(write(fds[0], "memfd", 5), 5);
	fds[1] = open(temp_tree_path(&fixture->tree, "library"), O_RDONLY | O_CLOEXEC);
	unlink(temp_tree_path(&fixture->tree, "library"));
	for (int i = 0; i < 2; i++) {
		void *address = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i], 0);
		struct own_mapping own = {.start = (uint64_t)(uintptr_t)address};
		struct mapping_view view;
		struct mapped_file *file = NULL;

		assert_ptr_not_equal(address, MAP_FAILED);
		assert_int_equal(
			procfs_maps_read(proc_fd, (uint32_t)getpid(), find_own_mapping, &own), 0);
		view = (struct mapping_view){.pid = (uint32_t)getpid(),
					     .start = own.found.start,
					     .end = own.found.end,
					     .inode = own.found.inode,
					     .device_major = own.found.device_major,
					     .device_minor = own.found.device_minor,
					     .path = own.found.path};
		assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
		assert_non_null(file);
		assert_true(file->deleted);
		assert_contents(mapped_file_open(table, file), i ? "unlinked" : "memfd");
		assert_true(mapped_file_is_generated(table, file));
		munmap(address, 4096);
		close(fds[i]);
	}
	close(proc_fd);
	mapped_file_table_free(table);
}

static void a_program_in_a_memfd_was_not_generated(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY);
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct own_mapping own = {0};
	struct mapped_file *file = NULL;
	struct mapping_view view;
	void *address;

	if (geteuid() != 0) {
		close(fd);
		close(proc_fd);
		mapped_file_table_free(table);
		skip();
	}
	assert_int_equal(write(fd, "\177ELF and so on", 15), 15);
	address = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(address, MAP_FAILED);
	own.start = (uint64_t)(uintptr_t)address;
	assert_int_equal(procfs_maps_read(proc_fd, (uint32_t)getpid(), find_own_mapping, &own), 0);
	view = (struct mapping_view){.pid = (uint32_t)getpid(),
				     .start = own.found.start,
				     .end = own.found.end,
				     .inode = own.found.inode,
				     .device_major = own.found.device_major,
				     .device_minor = own.found.device_minor,
				     .path = own.found.path};
	assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
	assert_false(mapped_file_is_generated(table, file));
	munmap(address, 4096);
	close(fd);
	close(proc_fd);
	mapped_file_table_free(table);
}

#define OPEN_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPEN_TEST(opens_what_is_mapped_even_when_its_name_is_gone),
		OPEN_TEST(opens_by_path_in_the_processs_own_root),
		OPEN_TEST(opens_by_path_in_our_own_root_when_the_process_is_gone),
		OPEN_TEST(a_name_may_end_like_those_of_deleted_files),
		OPEN_TEST(older_witness_helps_when_the_newest_is_gone),
		OPEN_TEST(refuses_a_file_that_has_been_replaced),
		OPEN_TEST(refuses_the_mapping_of_a_process_that_got_the_pid_later),
		OPEN_TEST(trusts_the_mapping_when_only_its_path_fits),
		OPEN_TEST(is_unsure_when_only_the_device_differs),
		OPEN_TEST(symbolic_links_resolve_inside_the_processs_root),
		OPEN_TEST(without_openat2_no_link_is_followed_and_no_way_leads_up),
		OPEN_TEST(neither_opens_nor_waits_for_what_is_no_regular_file),
		OPEN_TEST(of_what_somebody_else_serves_a_copy_is_opened),
		OPEN_TEST(failure_is_remembered_until_another_mapping_is_seen),
		cmocka_unit_test(reads_the_vdso_image),
		cmocka_unit_test(reads_a_vdso_unlike_ours_from_the_process_that_maps_it),
		OPEN_TEST(opens_memfds_and_unlinked_files_of_live_processes),
		cmocka_unit_test(a_program_in_a_memfd_was_not_generated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
