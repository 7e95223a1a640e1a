// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/mapped_file: which mappings are files, and which files are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/file/mapped_file.h"

static struct mapped_file *add_file(struct mapped_file_table *table,
				    const struct mapping_view *view)
{
	struct mapped_file *file = (void *)1;

	assert_int_equal(mapped_file_table_add(table, view, &file), 0);
	return file;
}

static struct mapping_view view_of(const char *path)
{
	return (struct mapping_view){
		.pid = 1,
		.start = 0x1000,
		.end = 0x2000,
		.inode = 42,
		.device_major = 8,
		.device_minor = 1,
		.path = path,
	};
}

static void tells_files_from_anonymous_memory(void **state)
{
	static const struct {
		const char *path;
		uint64_t inode;
		const char *file_path; /* NULL: anonymous */
		bool deleted;
	} rows[] = {
		{"/usr/bin/bash", 42, "/usr/bin/bash", false},
		{"/usr/bin/bash (deleted)", 42, "/usr/bin/bash", true},
		{"/a b (deleted) c", 42, "/a b (deleted) c", false},
		{"/memfd:runc_cloned:/proc/self/exe (deleted)", 42,
		 "/memfd:runc_cloned:/proc/self/exe", true},
		{"/memfd:jit-cache (deleted)", 42, "/memfd:jit-cache", true},
		{"//toolong", 42, "//toolong", false},
		{"/name\nwith newline", 42, "/name\nwith newline", false},
		{"/dev/zerofile", 42, "/dev/zerofile", false},
		{"/SYSVinit", 42, "/SYSVinit", false},
		{"/SYSV00000000", 42, "/SYSV00000000", false},
		{"", 0, NULL, false},
		{"", 42, NULL, false},
		{"//anon", 0, NULL, false},
		{"[heap]", 0, NULL, false},
		{"[stack]", 0, NULL, false},
		{"[stack:77]", 0, NULL, false},
		{"[vsyscall]", 0, NULL, false},
		{"[uprobes]", 0, NULL, false},
		{"[anon:JIT code]", 0, NULL, false},
		{"[anon_shmem:x]", 42, NULL, false},
		{"anon_inode:[perf_event]", 42, NULL, false},
		{"anon_inode:dmabuf", 42, NULL, false},
		{"/dev/zero", 42, NULL, false},
		{"/dev/zero (deleted)", 42, NULL, false},
		{"/SYSV00000000 (deleted)", 42, NULL, false},
		{"/SYSVdeadbeef (deleted)", 42, NULL, false},
		{"/anon_hugepage (deleted)", 42, NULL, false},
		{"/[aio] (deleted)", 42, NULL, false},
	};
	struct mapped_file_table *table = mapped_file_table_new("");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct mapping_view view = view_of(rows[i].path);
		struct mapped_file *file;

		view.inode = rows[i].inode ? rows[i].inode + i : 0;
		file = add_file(table, &view);
		if (!rows[i].file_path) {
			assert_null(file);
			continue;
		}
		assert_non_null(file);
		assert_int_equal(file->type, MAPPED_FILE_REGULAR);
		assert_string_equal(file->path, rows[i].file_path);
		assert_int_equal(file->deleted, rows[i].deleted);
		assert_int_equal(file->inode, view.inode);
	}
	mapped_file_table_free(table);
}

static void identity_is_device_inode_and_path(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = view_of("/bin/a");
	struct mapped_file *file = add_file(table, &view);

	assert_ptr_equal(add_file(table, &view), file);
	view.pid = 99;
	view.start = 0x5000;
	view.end = 0x6000;
	view.file_offset = 0x1000;
	assert_ptr_equal(add_file(table, &view), file);
	view.path = "/bin/b";
	assert_ptr_not_equal(add_file(table, &view), file);
	view = view_of("/bin/a");
	view.inode++;
	assert_ptr_not_equal(add_file(table, &view), file);
	view = view_of("/bin/a");
	view.device_major++;
	assert_ptr_not_equal(add_file(table, &view), file);
	view = view_of("/bin/a");
	view.device_minor++;
	assert_ptr_not_equal(add_file(table, &view), file);
	assert_int_equal(mapped_file_table_count(table), 5);
	for (uint32_t id = 0; id < 5; id++)
		assert_int_equal(mapped_file_table_get(table, id)->id, id);
	assert_null(mapped_file_table_get(table, 5));
	mapped_file_table_free(table);
}

static void unknown_generation_fits_any(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = view_of("/bin/a");
	struct mapped_file *first = add_file(table, &view), *second, *third;

	/* procfs did not show it; the first live record does */
	view.inode_generation = 7;
	assert_ptr_equal(add_file(table, &view), first);
	assert_int_equal(first->inode_generation, 7);
	view.inode_generation = 0;
	assert_ptr_equal(add_file(table, &view), first);
	/* The inode number was reused for a new file under the same name. */
	view.inode_generation = 8;
	second = add_file(table, &view);
	assert_ptr_not_equal(second, first);
	view.inode_generation = 9;
	third = add_file(table, &view);
	assert_ptr_not_equal(third, second);
	view.inode_generation = 7;
	assert_ptr_equal(add_file(table, &view), first);
	view.inode_generation = 8;
	assert_ptr_equal(add_file(table, &view), second);
	view.inode_generation = 0;
	assert_ptr_equal(add_file(table, &view), third);
	mapped_file_table_free(table);
}

static void deletion_is_noted_on_the_same_file(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = view_of("/bin/a");
	struct mapped_file *file = add_file(table, &view);

	assert_false(file->deleted);
	view.path = "/bin/a (deleted)";
	assert_ptr_equal(add_file(table, &view), file);
	assert_true(file->deleted);
	assert_string_equal(file->path, "/bin/a");
	mapped_file_table_free(table);
}

static void newest_mapping_is_the_witness(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = view_of("/bin/a");
	struct mapped_file *file = add_file(table, &view);

	assert_int_equal(file->witness_pid, 1);
	for (uint32_t pid = 2; pid < 20; pid++) {
		view.pid = pid;
		view.start = pid * 0x1000;
		view.end = view.start + 0x800;
		add_file(table, &view);
		assert_int_equal(file->witness_pid, pid);
		assert_int_equal(file->witness_start, view.start);
		assert_int_equal(file->witness_end, view.end);
	}
	mapped_file_table_free(table);
}

static void there_is_one_vdso_per_image_size_and_word_size(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = {
		.pid = 1, .start = 0x7fff00000000, .end = 0x7fff00002000, .path = "[vdso]"};
	struct mapped_file *file = add_file(table, &view), *other;

	assert_int_equal(file->type, MAPPED_FILE_VDSO);
	assert_string_equal(file->path, "[vdso]");
	assert_int_equal(file->inode, 0);
	view.pid = 2;
	view.start += 0x5000;
	view.end += 0x5000;
	assert_ptr_equal(add_file(table, &view), file);
	view.end -= 0x1000;
	other = add_file(table, &view);
	assert_ptr_not_equal(other, file);
	view.start = 0xf7f00000;
	view.end = 0xf7f02000;
	assert_ptr_not_equal(add_file(table, &view), file);
	assert_int_equal(mapped_file_table_count(table), 3);
	/* A file cannot pose as the vdso: it has an inode. */
	view.inode = 5;
	assert_null(add_file(table, &view));
	assert_int_equal(mapped_file_open(table, file), -ENODATA);
	mapped_file_table_free(table);
}

static void files_stay_in_place_while_the_table_grows(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	struct mapping_view view = view_of("/bin/first");
	struct mapped_file *first = add_file(table, &view);
	char path[64];

	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/lib/lib%u.so", i);
		view = view_of(path);
		assert_int_equal(add_file(table, &view)->id, i + 1);
	}
	assert_ptr_equal(mapped_file_table_get(table, 0), first);
	assert_string_equal(first->path, "/bin/first");
	assert_string_equal(mapped_file_table_get(table, 77)->path, "/lib/lib76.so");
	mapped_file_table_free(table);
}

static void number_of_files_and_bytes_of_paths_are_bounded(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	static char path[PATH_MAX];
	struct mapping_view view = view_of(path);
	struct mapped_file *file = NULL;
	int err = 0;

	memset(path, 'p', sizeof(path) - 1);
	path[0] = '/';
	for (uint64_t i = 0; !err; i++) {
		assert_true(i <= MAPPED_FILES_MAX_PATH_BYTES / PATH_MAX);
		view.inode = 1 + i;
		err = mapped_file_table_add(table, &view, &file);
	}
	assert_int_equal(err, -ENOSPC);
	/* What is known is still found. */
	view.inode = 1;
	assert_int_equal(add_file(table, &view)->id, 0);
	mapped_file_table_free(table);

	table = mapped_file_table_new("");
	view = view_of("/x");
	for (uint32_t i = 1; i <= MAPPED_FILES_MAX; i++) {
		view.inode_generation = i;
		assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
	}
	view.inode_generation++;
	assert_int_equal(mapped_file_table_add(table, &view, &file), -ENOSPC);
	assert_int_equal(mapped_file_table_count(table), MAPPED_FILES_MAX);
	mapped_file_table_free(table);
}

static void what_nobody_uses_makes_room(void **state)
{
	struct mapped_file_table *table = mapped_file_table_new("");
	static bool is_used[MAPPED_FILES_MAX];
	struct mapping_view view = view_of("/x");
	struct mapped_file *file = NULL, *kept;
	uint32_t id, generations[9];

	for (uint64_t i = 0; !mapped_file_table_add(table, &view, &file); i++)
		view.inode++;
	assert_true(mapped_file_table_is_nearly_full(table));
	kept = mapped_file_table_get(table, 7);
	is_used[7] = true;
	assert_int_equal(mapped_file_table_forget(table, is_used), 0);
	assert_false(mapped_file_table_is_nearly_full(table));
	assert_int_equal(mapped_file_table_live_count(table), 1);
	assert_ptr_equal(mapped_file_table_get(table, 7), kept);
	assert_null(mapped_file_table_get(table, 8));
	/* It is still found, and others get the ids. */
	view.inode = kept->inode;
	assert_ptr_equal(add_file(table, &view), kept);
	view.inode = 1ULL << 40;
	id = add_file(table, &view)->id;
	assert_true(id < MAPPED_FILES_MAX && id != 7);
	assert_int_equal(mapped_file_table_get(table, id)->inode, view.inode);
	/* Of a path and inode that were many programs after each other, those in use stay, and the
	 * last. */
	view = view_of("/y");
	for (view.inode_generation = 1; view.inode_generation < 9; view.inode_generation++)
		generations[view.inode_generation] = add_file(table, &view)->id;
	is_used[generations[3]] = true;
	assert_int_equal(mapped_file_table_forget(table, is_used), 0);
	assert_int_equal(mapped_file_table_live_count(table), 3);
	assert_null(mapped_file_table_get(table, id));
	view.inode_generation = 3;
	assert_int_equal(add_file(table, &view)->id, generations[3]);
	view.inode_generation = 0;
	assert_int_equal(add_file(table, &view)->id, generations[8]);
	view.inode_generation = 4;
	assert_int_equal(add_file(table, &view)->inode_generation, 4);
	assert_int_equal(mapped_file_table_live_count(table), 4);
	/* As many as ever fit again. */
	view = view_of("/z");
	for (id = 4; id < MAPPED_FILES_MAX; id++) {
		view.inode++;
		assert_int_equal(mapped_file_table_add(table, &view, &file), 0);
	}
	view.inode++;
	assert_int_equal(mapped_file_table_add(table, &view, &file), -ENOSPC);
	mapped_file_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_files_from_anonymous_memory),
		cmocka_unit_test(identity_is_device_inode_and_path),
		cmocka_unit_test(unknown_generation_fits_any),
		cmocka_unit_test(deletion_is_noted_on_the_same_file),
		cmocka_unit_test(newest_mapping_is_the_witness),
		cmocka_unit_test(there_is_one_vdso_per_image_size_and_word_size),
		cmocka_unit_test(files_stay_in_place_while_the_table_grows),
		cmocka_unit_test(number_of_files_and_bytes_of_paths_are_bounded),
		cmocka_unit_test(what_nobody_uses_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
