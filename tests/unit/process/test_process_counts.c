// SPDX-License-Identifier: BSD-2-Clause
/* Tests for process/relation/process_counts and device_bytes: differences of the kernel's
 * counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "relation_reading.h"
#include "temp_tree.h"
#include "process/relation/device_bytes.h"
#include "process/relation/process_counts.h"

#define FOUND_MAX 300

static struct read_relation found[FOUND_MAX];

static size_t write_counts(const struct process_counts *counts, uint32_t pid,
			   enum pkbpf_relation kind)
{
	struct event_buffer buffer = {0};
	size_t count;

	process_counts_write(
		counts, &(struct relation_writer){.buffer = &buffer, .pids = &pid, .pid_count = 1});
	count = read_relations(&buffer, kind, found, FOUND_MAX);
	event_buffer_done(&buffer);
	return count;
}

static const struct read_relation *find_text(size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(found[i].text, text))
			return &found[i];
	return NULL;
}

static void calls_since_then_are_counted(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	struct process_counts *counts;
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	const struct read_relation *call;
	char bytes[1000];
	size_t count;

	if (access("/proc/self/io", R_OK))
		skip();
	counts = process_counts_new(&pid, 1, false);
	assert_non_null(counts);
	for (int i = 0; i < 20; i++)
		assert_int_equal(read(zero, bytes, sizeof(bytes)), sizeof(bytes));
	for (int i = 0; i < 30; i++)
		assert_int_equal(write(null, bytes, 500), 500);
	count = write_counts(counts, pid, PKBPF_RELATION_CALLS);
	call = find_text(count, "read");
	assert_non_null(call);
	assert_int_equal(call->view.pid, pid);
	assert_in_range(call->view.count, 20, 20 + 20000);
	assert_true(call->view.value >= 20 * sizeof(bytes));
	call = find_text(count, "write");
	assert_non_null(call);
	assert_int_equal(call->view.count, 30);
	assert_int_equal(call->view.value, 30 * 500);
	close(zero);
	close(null);
	process_counts_free(counts);
}

/* It has ended, or is not one of the targets. */
static void calls_of_nobody_else_are_told(void **state)
{
	uint32_t pids[2] = {(uint32_t)getpid(), 0};
	struct process_counts *counts;
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	pids[1] = (uint32_t)child;
	counts = process_counts_new(pids, 2, false);
	assert_non_null(counts);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(write_counts(counts, pids[1], PKBPF_RELATION_CALLS), 0);
	process_counts_free(counts);
	process_counts_free(NULL);
}

/* Asks a port that was given back. */
static void refused_connections_are_counted(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	uint32_t pid = (uint32_t)getpid();
	struct process_counts *counts;
	int fd;

	if (access("/proc/self/net/snmp", R_OK))
		skip();
	counts = process_counts_new(&pid, 1, false);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_non_null(counts);
	/* Bound and not listening: nobody else has the port meanwhile. */
	assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	for (int i = 0; i < 3; i++) {
		int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		assert_int_equal(connect(client, (struct sockaddr *)&address, size), -1);
		close(client);
	}
	close(fd);
	assert_int_equal(write_counts(counts, pid, PKBPF_RELATION_REFUSED), 1);
	assert_int_equal(found[0].view.pid, pid);
	assert_true(found[0].view.count >= 3);
	process_counts_free(counts);
}

/* Writes `bytes` to a file once it is told to, and stays. */
static pid_t start_writer(const char *path, size_t bytes, const char *name, int start, int done)
{
	pid_t pid = fork();
	char *block, go;
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	block = calloc(1, bytes);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (read(start, &go, 1) != 1 || write(fd, block, bytes) != (ssize_t)bytes || fsync(fd) ||
	    write(done, "", 1) != 1)
		_exit(1);
	pause();
	_exit(0);
}

static bool has_storage_bytes(pid_t pid, uint64_t least)
{
	unsigned long long value = 0;
	char path[64], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/io", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "write_bytes: %llu", &value) == 1)
			break;
	if (file)
		fclose(file);
	return value >= least;
}

/* Who writes most comes first, and two of a name are one. */
static void storage_of_others_is_added_up_by_name(void **state)
{
	static const struct {
		const char *file, *name;
		size_t mib;
	} writers[] = {{"a", "small", 3}, {"b", "pair", 4}, {"c", "pair", 5}, {"d", "tiny", 0}};
	enum { COUNT = sizeof(writers) / sizeof(writers[0]) };
	uint32_t pid = (uint32_t)getpid();
	struct process_counts *counts;
	int start[2], done[2];
	pid_t pids[COUNT];
	bool are_counted = true;
	struct temp_tree tree;
	size_t count, at = 0;
	char byte;

	temp_tree_init(&tree);
	assert_int_equal(pipe2(start, O_CLOEXEC) | pipe2(done, O_CLOEXEC), 0);
	for (int i = 0; i < COUNT; i++)
		pids[i] = start_writer(temp_tree_path(&tree, writers[i].file),
				       (writers[i].mib << 20) + 4096, writers[i].name, start[0],
				       done[1]);
	counts = process_counts_new(&pid, 1, false);
	assert_non_null(counts);
	assert_int_equal(write(start[1], "1234", COUNT), COUNT);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(read(done[0], &byte, 1), 1);
	for (int i = 0; i < COUNT; i++)
		are_counted &= has_storage_bytes(pids[i], writers[i].mib << 20);
	count = write_counts(counts, pid, PKBPF_RELATION_STORAGE);
	process_counts_free(counts);
	for (int i = 0; i < COUNT; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
		close(i < 2 ? start[i] : done[i - 2]);
	}
	temp_tree_done(&tree);
	/* A folder in memory moves nothing. */
	if (!are_counted)
		skip();
	assert_in_range(count, 1, 4);
	for (size_t i = 0; i < count; i++) {
		if (i)
			assert_true(found[i].view.value <= found[i - 1].view.value);
		assert_string_not_equal(found[i].view.other_comm, "tiny");
		if (!strcmp(found[i].view.other_comm, "pair"))
			at = i + 1;
	}
	/* Others of this machine may write still more. */
	if (at)
		assert_true(found[at - 1].view.value >= 9 << 20);
	else
		assert_int_equal(count, 4);
}

static void reads_sectors_of_devices(void **state)
{
	struct device_bytes devices[DEVICES_MAX];
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, "diskstats",
		       "   8       0 sda 10 1 100 7 20 2 200 8 0 9 10\n"
		       "damaged\n"
		       "8 1 sda1 1 2\n"
		       "\n"
		       " 259       3 nvme0n1p3 1 0 8 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_int_equal(device_bytes_read(temp_tree_path(&tree, "diskstats"), devices), 2);
	assert_int_equal(devices[0].major, 8);
	assert_int_equal(devices[0].minor, 0);
	assert_int_equal(devices[0].bytes, 300 * 512);
	assert_int_equal(devices[1].major, 259);
	assert_int_equal(devices[1].minor, 3);
	assert_int_equal(devices[1].bytes, 8 * 512);
	assert_int_equal(device_bytes_read(temp_tree_path(&tree, "none"), devices), 0);
	temp_tree_done(&tree);
}

static void takes_no_more_devices_than_there_is_room_for(void **state)
{
	static char text[(DEVICES_MAX + 50) * 48];
	struct device_bytes devices[DEVICES_MAX + 1];
	struct temp_tree tree;
	size_t size = 0;

	memset(devices, 0x5a, sizeof(devices));
	for (unsigned int i = 0; i < DEVICES_MAX + 50; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 "%u %u x 1 1 %u 1 1 1 0 1\n", i, i, i);
	temp_tree_init(&tree);
	temp_tree_file(&tree, "diskstats", text);
	assert_int_equal(device_bytes_read(temp_tree_path(&tree, "diskstats"), devices),
			 DEVICES_MAX);
	assert_int_equal(devices[DEVICES_MAX - 1].bytes, (DEVICES_MAX - 1) * 512);
	assert_int_equal(devices[DEVICES_MAX].major, 0x5a5a5a5a);
	temp_tree_done(&tree);
}

/* Of this machine, which may have no device. */
static void tells_of_devices_that_moved_something(void **state)
{
	struct device_bytes before[DEVICES_MAX];
	size_t moved = 0, count = device_bytes_read("/proc/diskstats", before), told;
	struct event_buffer buffer = {0};
	char text[32];

	for (size_t i = 0; i < count; i++) {
		moved += before[i].bytes > 0;
		/* More than there can be: it was replaced. */
		before[i].bytes = i % 2 ? UINT64_MAX : 0;
	}
	device_bytes_write(before, count, &(struct relation_writer){.buffer = &buffer});
	told = read_relations(&buffer, PKBPF_RELATION_DEVICE, found, FOUND_MAX);
	assert_true(told <= (count + 1) / 2);
	if (count && !moved)
		assert_int_equal(told, 0);
	for (size_t i = 0; i < told; i++) {
		bool is_even = false;

		assert_true(found[i].view.value > 0);
		for (size_t j = 0; j < count; j += 2) {
			snprintf(text, sizeof(text), "%u:%u", before[j].major, before[j].minor);
			is_even |= !strcmp(text, found[i].text);
		}
		assert_true(is_even);
	}
	event_buffer_done(&buffer);
}

/* The newest processes have the highest numbers, and the kernel lists them last. */
static void all_processes_are_listed(void **state)
{
	enum { COUNT = 5000 };
	struct temp_tree tree;
	uint32_t *pids;
	char name[32];
	size_t count;

	temp_tree_init(&tree);
	for (uint32_t pid = COUNT; pid > 0; pid--) {
		snprintf(name, sizeof(name), "%u", pid);
		assert_int_equal(mkdir(temp_tree_path(&tree, name), 0700), 0);
	}
	assert_int_equal(mkdir(temp_tree_path(&tree, "self"), 0700), 0);
	count = relation_list_pids(temp_tree_path(&tree, ""), &pids);
	temp_tree_done(&tree);
	assert_int_equal(count, COUNT);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(pids[i], i + 1);
	free(pids);
	assert_int_equal(relation_list_pids(temp_tree_path(&tree, "none"), &pids), 0);
	assert_null(pids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_since_then_are_counted),
		cmocka_unit_test(calls_of_nobody_else_are_told),
		cmocka_unit_test(refused_connections_are_counted),
		cmocka_unit_test(storage_of_others_is_added_up_by_name),
		cmocka_unit_test(reads_sectors_of_devices),
		cmocka_unit_test(takes_no_more_devices_than_there_is_room_for),
		cmocka_unit_test(tells_of_devices_that_moved_something),
		cmocka_unit_test(all_processes_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
