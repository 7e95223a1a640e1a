// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/file_io: bounded reading, output that appears whole or not at all. */
#include "file_io_fixture.h"

/* ---- reading ---- */

static void reads_files_of_every_size_around_the_buffer(void **state)
{
	static const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		_cleanup_free_ char *text = calloc(1, sizes[i] + 1), *data = NULL;
		size_t size = 99;

		memset(text, 'r', sizes[i]);
		put_file("file", text);
		assert_int_equal(file_read_all(AT_FDCWD, "file", sizes[i], &data, &size), 0);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(data, text, size + 1);
	}
}

static void refuses_file_longer_than_allowed(void **state)
{
	static const size_t limits[] = {0, 1, 4094, 4095, 4096, 9998};
	_cleanup_free_ char *text = calloc(1, 10000);
	char *data = (char *)"untouched";
	size_t size = 99;

	memset(text, 'r', 9999);
	put_file("file", text);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		assert_int_equal(file_read_all(AT_FDCWD, "file", limits[i], &data, &size), -EFBIG);
	assert_int_equal(file_read_all(AT_FDCWD, "/dev/zero", 1 << 16, &data, &size), -EFBIG);
	assert_string_equal(data, "untouched");
	assert_int_equal(size, 99);
}

static void reads_procfs_file_that_claims_size_0(void **state)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 0;

	assert_int_equal(file_read_all(AT_FDCWD, "/proc/self/status", SIZE_MAX, &data, &size), 0);
	assert_true(size > 100);
	assert_int_equal(strlen(data), size);
	assert_non_null(strstr(data, "Pid:"));
}

static void keeps_nul_bytes_that_a_file_contains(void **state)
{
	_cleanup_free_ char *data = NULL;
	_cleanup_fclose_ FILE *file = fopen("file", "we");
	size_t size;

	fwrite("a\0b", 1, 3, file);
	fflush(file);
	assert_int_equal(file_read_all(AT_FDCWD, "file", 100, &data, &size), 0);
	assert_int_equal(size, 3);
	assert_memory_equal(data, "a\0b", 4);
}

static void reads_relative_to_a_directory(void **state)
{
	_cleanup_free_ char *data = NULL;
	_cleanup_close_ int fd = -1;
	size_t size;

	assert_int_equal(mkdir("sub", 0755), 0);
	put_file("sub/file", "inside");
	fd = open("sub", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(file_read_all(fd, "file", 100, &data, &size), 0);
	assert_string_equal(data, "inside");
}

static void reports_why_reading_failed(void **state)
{
	char *data;
	size_t size;

	assert_int_equal(file_read_all(AT_FDCWD, "absent", 10, &data, &size), -ENOENT);
	assert_int_equal(file_read_all(AT_FDCWD, ".", 10, &data, &size), -EISDIR);
	assert_int_equal(file_read_all(AT_FDCWD, "absent/x", 10, &data, &size), -ENOENT);
}

static void is_not_stopped_by_a_fifo_without_writer(void **state)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 99;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	alarm(20); /* ends the test program should the open block */
	assert_int_equal(file_read_all(AT_FDCWD, "fifo", 10, &data, &size), 0);
	alarm(0);
	assert_int_equal(size, 0);
}

/* ---- writing ---- */

static void is_not_stopped_by_a_fifo_that_nobody_reads(void **state)
{
	struct error error;

	assert_int_equal(mkfifo("unread", 0600), 0);
	alarm(20); /* as above */
	assert_null(output_file_open("unread", &error));
	alarm(0);
	assert_non_null(strstr(error.text, "nothing reads from it"));
}

/* Some file systems have no files without a name. */
static int names_of_unnamed(void)
{
	int fd = open(".", O_WRONLY | O_TMPFILE, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static void check_target(struct output_file *output, int temporaries)
{
	put_file("target", "old");
	assert_non_null(output);
	fputs("new", output_file_stream(output));
	fflush(output_file_stream(output));
	assert_file_holds("target", "old");
	assert_int_equal(count_entries(".", ".pkbpf-"), temporaries);
	assert_int_equal(count_entries(".", ""), 1 + temporaries);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), 0);
	assert_file_holds("target", "new");
	output_file_free(output);
	assert_file_holds("target", "new");
	assert_int_equal(count_entries(".", ""), 1);
}

static void target_appears_complete_at_commit(void **state)
{
	put_file("target", "old");
	check_target(output_file_open("target", NULL), names_of_unnamed());
	check_target(output_file_open_visible("target", NULL), 1);
}

static void free_without_commit_leaves_nothing(void **state)
{
	struct output_file *output = output_file_open("target", NULL);

	fputs("new", output_file_stream(output));
	output_file_free(output);
	assert_int_equal(count_entries(".", ""), 0);

	put_file("target", "old");
	output = output_file_open("target", NULL);
	fputs("new", output_file_stream(output));
	output_file_free(output);
	assert_file_holds("target", "old");
	assert_int_equal(count_entries(".", ""), 1);
	output_file_free(NULL);
}

static void abandoned_output_leaves_old_file_alone(void **state)
{
	struct output_file *output;

	put_file("target", "old");
	output = output_file_open("target", NULL);
	fputs("new", output_file_stream(output));
	output_file_abandon(output);
	assert_int_equal(count_entries(".", ""), 1);
	assert_file_holds("target", "old");
	output_file_free(output); /* an ordinary end afterwards is no error */
	assert_int_equal(count_entries(".", ""), 1);
}

static void second_commit_is_refused(void **state)
{
	struct output_file *output = output_file_open("target", NULL);

	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), 0);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), -EALREADY);
	output_file_free(output);
	assert_file_holds("target", "");
}

static void new_file_has_the_mode_that_umask_leaves(void **state)
{
	static const mode_t masks[] = {022, 077, 027, 0};

	for (size_t i = 0; i < ARRAY_SIZE(masks); i++) {
		umask(masks[i]);
		assert_int_equal(write_text("target", "x", NULL), 0);
		assert_int_equal(mode_of("target"), S_IFREG | (0666 & ~masks[i]));
		assert_int_equal(unlink("target"), 0);
	}
}

static void replaced_file_is_not_opened_to_others(void **state)
{
	put_file("target", "old");
	assert_int_equal(chmod("target", 0600), 0);
	assert_int_equal(write_text("target", "new", NULL), 0);
	assert_int_equal(mode_of("target"), S_IFREG | 0600);
	assert_file_holds("target", "new");
}

static void symbolic_links_stay_links(void **state)
{
	char absolute[256];

	assert_int_equal(mkdir("sub", 0755), 0);
	put_file("sub/real", "old");
	snprintf(absolute, sizeof(absolute), "%s/sub/real", (char *)*state);
	assert_int_equal(symlink("sub/real", "relative"), 0);
	assert_int_equal(symlink(absolute, "absolute"), 0);
	assert_int_equal(symlink("../relative", "sub/chain"), 0);
	assert_int_equal(symlink("sub/made", "dangling"), 0);
	assert_int_equal(symlink("sub", "directory"), 0);

	assert_int_equal(write_text("relative", "1", NULL), 0);
	assert_file_holds("sub/real", "1");
	assert_int_equal(write_text("absolute", "2", NULL), 0);
	assert_file_holds("sub/real", "2");
	assert_int_equal(write_text("sub/chain", "3", NULL), 0);
	assert_file_holds("sub/real", "3");
	assert_int_equal(write_text("dangling", "4", NULL), 0);
	assert_file_holds("sub/made", "4");
	assert_int_equal(write_text("directory/real", "5", NULL), 0);
	assert_file_holds("sub/real", "5");

	assert_true(S_ISLNK(mode_of("relative")) && S_ISLNK(mode_of("absolute")) &&
		    S_ISLNK(mode_of("sub/chain")) && S_ISLNK(mode_of("dangling")) &&
		    S_ISLNK(mode_of("directory")));
	assert_int_equal(count_entries(".", ""), 5);
	assert_int_equal(count_entries("sub", ""), 3);
}

static void temporary_of_a_link_lies_beside_what_it_names(void **state)
{
	struct output_file *output;

	assert_int_equal(mkdir("sub", 0755), 0);
	assert_int_equal(symlink("sub/real", "link"), 0);
	output = output_file_open_visible("link", NULL);
	assert_int_equal(count_entries("sub", ".pkbpf-"), 1);
	assert_int_equal(count_entries(".", ".pkbpf-"), 0);
	output_file_free(output);
	assert_int_equal(count_entries("sub", ""), 0);
}

static void refuses_links_in_a_circle(void **state)
{
	struct error error;

	assert_int_equal(symlink("b", "a"), 0);
	assert_int_equal(symlink("a", "b"), 0);
	assert_int_equal(write_text("a", "x", &error), -ELOOP);
	assert_non_null(strstr(error.text, "cannot write a: "));
	assert_int_equal(count_entries(".", ""), 2);
}

static void refuses_link_planted_by_a_stranger_in_a_sticky_directory(void **state)
{
	struct error error;

	if (geteuid() != 0)
		skip(); /* only root can make files of a stranger */
	put_file("precious", "old");
	assert_int_equal(mkdir("sticky", 0755), 0);
	assert_int_equal(chmod("sticky", 01777), 0);
	assert_int_equal(symlink("../precious", "sticky/link"), 0);
	assert_int_equal(write_text("sticky/link", "own link", NULL), 0);
	assert_file_holds("precious", "own link");
	assert_int_equal(lchown("sticky/link", STRANGER, STRANGER), 0);
	assert_int_equal(write_text("sticky/link", "planted", &error), -EACCES);
	assert_non_null(strstr(error.text, "Permission denied"));
	assert_file_holds("precious", "own link");
}

static void target_stays_where_it_was_named_after_chdir(void **state)
{
	struct output_file *output;

	assert_int_equal(mkdir("sub", 0755), 0);
	output = output_file_open("target", NULL);
	fputs("x", output_file_stream(output));
	assert_int_equal(chdir("sub"), 0);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), 0);
	output_file_free(output);
	assert_file_holds("../target", "x");
	assert_int_equal(count_entries(".", ""), 0);
}

static void committed_file_belongs_to_the_owner(void **state)
{
	struct output_file *output;
	struct stat status;

	if (geteuid() != 0)
		skip(); /* only root can give files away */
	output = output_file_open("target", NULL);
	assert_int_equal(output_file_commit(output, STRANGER, STRANGER + 1, NULL), 0);
	output_file_free(output);
	assert_int_equal(stat("target", &status), 0);
	assert_int_equal(status.st_uid, STRANGER);
	assert_int_equal(status.st_gid, STRANGER + 1);
}

static void says_why_a_target_cannot_be_opened(void **state)
{
	static const struct {
		const char *path;
		int err;
		const char *sentence;
	} cases[] = {
		{"no/x", -ENOENT,
		 "cannot write no/x: No such file or directory; "
		 "create the directory or use another file with -o"},
		{"", -ENOENT, NULL},
		{"sub", -EISDIR,
		 "cannot write sub: Is a directory; name a file in this directory with -o"},
		{"sub/", -EISDIR, NULL},
		{".", -EISDIR, NULL},
		{"..", -EISDIR, NULL},
		{"/", -EISDIR, NULL},
		{"file/x", -ENOTDIR, NULL},
		{"socket", -ENXIO, NULL},
	};
	struct sockaddr address = {.sa_family = AF_UNIX, .sa_data = "socket"};
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, &address, sizeof(address)), 0);
	assert_int_equal(mkdir("sub", 0755), 0);
	put_file("file", "");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = {""};

		if (output_file_open(cases[i].path, &error) || -errno != cases[i].err)
			fail_msg("'%s' gives %s", cases[i].path, error.text);
		if (cases[i].sentence)
			assert_string_equal(error.text, cases[i].sentence);
	}
	assert_int_equal(count_entries(".", ""), 3);
}

static void too_long_name_is_refused_before_the_run_not_after(void **state)
{
	char name[300];

	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	assert_int_equal(write_text(name, "x", NULL), -ENAMETOOLONG);
	name[255] = '\0'; /* as long as a name can be: the temporary must not be longer */
	assert_int_equal(write_text(name, "x", NULL), 0);
	assert_file_holds(name, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(reads_files_of_every_size_around_the_buffer),
		FILE_TEST(refuses_file_longer_than_allowed),
		FILE_TEST(reads_procfs_file_that_claims_size_0),
		FILE_TEST(keeps_nul_bytes_that_a_file_contains),
		FILE_TEST(reads_relative_to_a_directory),
		FILE_TEST(reports_why_reading_failed),
		FILE_TEST(is_not_stopped_by_a_fifo_without_writer),
		FILE_TEST(is_not_stopped_by_a_fifo_that_nobody_reads),
		FILE_TEST(target_appears_complete_at_commit),
		FILE_TEST(free_without_commit_leaves_nothing),
		FILE_TEST(abandoned_output_leaves_old_file_alone),
		FILE_TEST(second_commit_is_refused),
		FILE_TEST(new_file_has_the_mode_that_umask_leaves),
		FILE_TEST(replaced_file_is_not_opened_to_others),
		FILE_TEST(symbolic_links_stay_links),
		FILE_TEST(temporary_of_a_link_lies_beside_what_it_names),
		FILE_TEST(refuses_links_in_a_circle),
		FILE_TEST(refuses_link_planted_by_a_stranger_in_a_sticky_directory),
		FILE_TEST(target_stays_where_it_was_named_after_chdir),
		FILE_TEST(committed_file_belongs_to_the_owner),
		FILE_TEST(says_why_a_target_cannot_be_opened),
		FILE_TEST(too_long_name_is_refused_before_the_run_not_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
