// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/file_io: full disks, closed pipes, standard output, targets that are no plain
 * files. */
#include "file_io_fixture.h"

/* ---- full disks, closed pipes ---- */

static void full_disk_is_told_in_a_sentence(void **state)
{
	static const size_t sizes[] = {1, 64 * 1024, 10 * 1024 * 1024};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct error error;
		struct output_file *output = output_file_open("/dev/full", &error);
		_cleanup_free_ char *text = calloc(1, sizes[i] + 1);

		assert_non_null(output);
		memset(text, 'x', sizes[i]);
		fputs(text, output_file_stream(output));
		/* stdio has dropped the reason of the first failure long before. */
		errno = 0;
		assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, &error),
				 -ENOSPC);
		assert_string_equal(error.text, "cannot write /dev/full: No space left on device; "
						"free space or use another file with -o");
		output_file_free(output);
	}
	assert_true(S_ISCHR(mode_of("/dev/full")));
}

static void file_cut_by_a_limit_leaves_the_old_one(void **state)
{
	struct rlimit old, limit;
	struct error error;
	_cleanup_free_ char *text = calloc(1, 300001);
	int err;

	put_file("target", "old");
	memset(text, 'x', 300000);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err = write_text("target", text, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(err, -EFBIG);
	assert_non_null(strstr(error.text, "cannot write target: File too large; "));
	assert_file_holds("target", "old");
	assert_int_equal(count_entries(".", ""), 1);
}

static void nothing_is_written_after_a_failure(void **state)
{
	struct rlimit old, limit;
	struct output_file *output;
	struct stat status;
	char name[64] = "";
	DIR *directory;
	struct dirent *entry;

	output = output_file_open_visible("target", NULL);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 2000; i++)
		fputc('x', output_file_stream(output));
	fflush(output_file_stream(output));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	fputs("there is room again", output_file_stream(output));
	fflush(output_file_stream(output));

	directory = opendir(".");
	while ((entry = readdir(directory))) {
		if (strncmp(entry->d_name, ".pkbpf-", 7) == 0)
			snprintf(name, sizeof(name), "%.60s", entry->d_name);
	}
	closedir(directory);
	assert_int_equal(stat(name, &status), 0);
	assert_int_equal(status.st_size, 1000);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), -EFBIG);
	output_file_free(output);
	assert_int_equal(count_entries(".", ""), 0);
}

static void reader_that_went_away_is_epipe(void **state)
{
	struct error error;
	struct output_file *output;
	int reader;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	output = output_file_open("fifo", &error);
	assert_non_null(output);
	fputs("x", output_file_stream(output));
	close(reader);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, &error), -EPIPE);
	assert_non_null(strstr(error.text, "cannot write fifo: Broken pipe; "));
	output_file_free(output);
	assert_true(S_ISFIFO(mode_of("fifo")));
	assert_int_equal(count_entries(".", ""), 1);
}

static void fifo_and_device_are_written_directly(void **state)
{
	struct output_file *output;
	char got[16] = "";
	int reader;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(symlink("fifo", "link"), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	output = output_file_open("link", NULL);
	fputs("through", output_file_stream(output));
	assert_int_equal(output_file_commit(output, STRANGER, STRANGER, NULL), 0);
	output_file_free(output);
	assert_int_equal(read(reader, got, sizeof(got)), 7);
	assert_string_equal(got, "through");
	close(reader);
	assert_int_equal(count_entries(".", ""), 2);

	assert_int_equal(write_text("/dev/null", "x", NULL), 0);
	assert_true(S_ISCHR(mode_of("/dev/null")));
}

static void refuses_fifo_planted_by_a_stranger(void **state)
{
	static const mode_t modes[] = {01777, 0777};
	struct error error;
	int reader;

	if (geteuid() != 0)
		skip(); /* only root can make files of a stranger */
	assert_int_equal(mkdir("shared", 0755), 0);
	assert_int_equal(mkfifo("shared/fifo", 0600), 0);
	reader = open("shared/fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod("shared", modes[i]), 0);
		assert_int_equal(chown("shared/fifo", 0, 0), 0);
		assert_int_equal(write_text("shared/fifo", "own", NULL), 0);
		assert_int_equal(chown("shared/fifo", STRANGER, STRANGER), 0);
		assert_int_equal(write_text("shared/fifo", "planted", &error), -EACCES);
		assert_non_null(strstr(error.text, "cannot write shared/fifo: "));
	}
	/* Nobody but its owner may put files there: the FIFO is what it was meant to be. */
	assert_int_equal(chmod("shared", 0755), 0);
	assert_int_equal(write_text("shared/fifo", "given", NULL), 0);
	close(reader);
}

static void stream_can_seek_back_in_a_file(void **state)
{
	struct output_file *output = output_file_open("target", NULL);
	FILE *stream = output_file_stream(output);

	fputs("0000-body", stream);
	assert_int_equal(ftell(stream), 9);
	assert_int_equal(fseek(stream, 0, SEEK_SET), 0);
	fputs("head", stream);
	assert_int_equal(fseek(stream, 0, SEEK_END), 0);
	assert_int_equal(ftell(stream), 9);
	assert_int_equal(output_file_commit(output, KEEP_OWNER, KEEP_GROUP, NULL), 0);
	output_file_free(output);
	assert_file_holds("target", "head-body");
}

/* ---- standard output, replaced in a child process ---- */

/* Runs the write in a child whose stdout is fd and gives the commit's result as positive errno. */
static int write_in_child(int fd, const char *path, const char *before, const char *text)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct output_file *output;
		int err;

		dup2(fd, STDOUT_FILENO);
		clearerr(stdout);
		printf("%s", before);
		output = output_file_open(path, NULL);
		if (!output)
			_exit(255);
		fputs(text, output_file_stream(output));
		err = output_file_commit(output, STRANGER, STRANGER, NULL);
		output_file_free(output);
		if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
			_exit(254); /* stdout is not ours to close */
		_exit(-err);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void minus_is_stdout_in_order(void **state)
{
	_cleanup_close_ int fd = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct stat status;

	fflush(stdout); /* the child must not print cmocka's lines again */
	assert_int_equal(write_in_child(fd, "-", "before ", "after"), 0);
	assert_file_holds("out", "before after");
	assert_int_equal(count_entries(".", ""), 1);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_uid, geteuid());
}

static void open_file_named_through_proc_is_appended_to(void **state)
{
	_cleanup_close_ int fd = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	fflush(stdout);
	assert_int_equal(write(fd, "head ", 5), 5);
	assert_int_equal(write_in_child(fd, "/proc/self/fd/1", "", "body"), 0);
	assert_file_holds("out", "head body");
	assert_int_equal(count_entries(".", ""), 1);
}

static void stdout_without_reader_is_epipe(void **state)
{
	int ends[2];

	fflush(stdout);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	assert_int_equal(write_in_child(ends[1], "-", "", "lost"), EPIPE);
	close(ends[1]);
}

static void waits_for_the_reader_of_a_nonblocking_stdout(void **state)
{
	_cleanup_free_ char *text = calloc(1, 500001);
	size_t total = 0;
	char piece[4096];
	ssize_t got;
	int ends[2], status;
	pid_t reader;

	fflush(stdout);
	memset(text, 'x', 500000); /* several times what a pipe holds */
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	reader = fork();
	if (reader == 0) {
		close(ends[1]);
		while ((got = read(ends[0], piece, sizeof(piece))) > 0)
			total += (size_t)got;
		_exit(total == 500000 ? 0 : 1);
	}
	close(ends[0]);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write_in_child(ends[1], "-", "", text), 0);
	close(ends[1]);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(full_disk_is_told_in_a_sentence),
		FILE_TEST(file_cut_by_a_limit_leaves_the_old_one),
		FILE_TEST(nothing_is_written_after_a_failure),
		FILE_TEST(reader_that_went_away_is_epipe),
		FILE_TEST(fifo_and_device_are_written_directly),
		FILE_TEST(refuses_fifo_planted_by_a_stranger),
		FILE_TEST(stream_can_seek_back_in_a_file),
		FILE_TEST(minus_is_stdout_in_order),
		FILE_TEST(open_file_named_through_proc_is_appended_to),
		FILE_TEST(stdout_without_reader_is_epipe),
		FILE_TEST(waits_for_the_reader_of_a_nonblocking_stdout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
