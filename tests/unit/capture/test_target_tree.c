// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/target_tree: children found in the live procfs, by program or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdio.h>

#include "temp_tree.h"
#include "base/array.h"
#include "capture/session/target_tree.h"

struct tree {
	pid_t worker;	  /* forked from this test, same program */
	pid_t grandchild; /* forked from the worker */
	pid_t stranger;	  /* forked and exec'd something else */
};

static void start_tree(struct tree *tree)
{
	int pipe_fds[2];
	char byte;

	assert_int_equal(pipe(pipe_fds), 0);
	tree->worker = fork();
	if (tree->worker == 0) {
		pid_t grandchild = fork();

		if (grandchild == 0) {
			pause();
			_exit(0);
		}
		if (write(pipe_fds[1], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pipe_fds[0], &tree->grandchild, sizeof(tree->grandchild)),
			 sizeof(tree->grandchild));
	tree->stranger = fork();
	if (tree->stranger == 0) {
		dup2(pipe_fds[1], STDOUT_FILENO);
		execlp("sh", "sh", "-c", "echo; exec sleep 60", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(read(pipe_fds[0], &byte, 1), 1); /* it has exec'd */
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void stop_tree(const struct tree *tree)
{
	kill(tree->grandchild, SIGKILL);
	kill(tree->worker, SIGKILL);
	kill(tree->stranger, SIGKILL);
	waitpid(tree->worker, NULL, 0);
	waitpid(tree->stranger, NULL, 0);
}

static bool contains(const struct u32_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i] == (uint32_t)pid)
			return true;
	}
	return false;
}

static void expand_self(enum pkbpf_follow follow, struct u32_list *list)
{
	list->items = malloc(sizeof(*list->items));
	list->items[0] = (uint32_t)getpid();
	list->count = list->capacity = 1;
	assert_int_equal(target_tree_expand("/proc", follow, list), 0);
}

static void finds_workers_but_not_other_programs(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_WORKERS, &list);
	assert_int_equal(list.count, 3);
	assert_true(contains(&list, tree.worker) && contains(&list, tree.grandchild));
	free(list.items);
	stop_tree(&tree);
}

static void finds_all_descendants(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_DESCENDANTS, &list);
	assert_int_equal(list.count, 4);
	assert_true(contains(&list, tree.stranger));
	free(list.items);
	stop_tree(&tree);
}

static void adds_nobody_when_told_so(void **state)
{
	struct u32_list list = {0};
	struct tree tree;

	start_tree(&tree);
	expand_self(PKBPF_FOLLOW_NONE, &list);
	assert_int_equal(list.count, 1);
	free(list.items);
	stop_tree(&tree);
}

/* ---- a procfs on paper ---- */

static void add_process(struct temp_tree *tree, uint32_t pid, uint32_t parent, const char *comm,
			const char *exe)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "%u/stat", pid);
	snprintf(text, sizeof(text), "%u (%s) S %u 1 1 0 -1 4194560\n", pid, comm, parent);
	temp_tree_file(tree, path, text);
	if (!exe)
		return;
	snprintf(path, sizeof(path), "%u/exe", pid);
	temp_tree_link(tree, path, temp_tree_path(tree, exe));
}

static void make_procfs(struct temp_tree *tree)
{
	temp_tree_init(tree);
	temp_tree_file(tree, "server", "program");
	temp_tree_file(tree, "shell", "another");
	add_process(tree, 1, 0, "init", "shell");
	add_process(tree, 10, 1, "server", "server");
	add_process(tree, 11, 10, "worker", "server");
	add_process(tree, 12, 11, "worker of it", "server");
	add_process(tree, 13, 10, "sh", "shell");
	add_process(tree, 14, 13, "server again", "server");
	/* A name may look like the end of one, and like a parent. */
	add_process(tree, 15, 10, "a) R 1 (b", "server");
	add_process(tree, 16, 1, ") S 10 (", "server");
	/* Its program cannot be read. */
	add_process(tree, 17, 10, "gone", NULL);
	temp_tree_file(tree, "18/stat", "18 damaged\n");
	temp_tree_file(tree, "19/stat", "");
	temp_tree_file(tree, "self/stat", "20 (self) S 10 1\n");
}

static bool has(const struct u32_list *list, uint32_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == pid)
			return true;
	return false;
}

/* The pids that are added to some. */
static void assert_added(enum pkbpf_follow follow, const uint32_t *given, size_t given_count,
			 const uint32_t *added, size_t added_count)
{
	struct u32_list list = {0};
	struct temp_tree tree;

	make_procfs(&tree);
	for (size_t i = 0; i < given_count; i++)
		*array_add(&list) = given[i];
	assert_int_equal(target_tree_expand(tree.root, follow, &list), 0);
	temp_tree_done(&tree);
	assert_int_equal(list.count, given_count + added_count);
	for (size_t i = 0; i < given_count; i++)
		assert_int_equal(list.items[i], given[i]);
	for (size_t i = 0; i < added_count; i++)
		assert_true(has(&list, added[i]));
	free(list.items);
}

static void names_cannot_move_a_process_in_the_tree(void **state)
{
	static const uint32_t given[] = {10}, all[] = {11, 12, 13, 14, 15, 17},
			      workers[] = {11, 12, 15};

	assert_added(PKBPF_FOLLOW_DESCENDANTS, given, 1, all, ARRAY_SIZE(all));
	assert_added(PKBPF_FOLLOW_WORKERS, given, 1, workers, ARRAY_SIZE(workers));
	assert_added(PKBPF_FOLLOW_NONE, given, 1, NULL, 0);
}

static void those_that_were_given_are_not_added_again(void **state)
{
	static const uint32_t given[] = {13, 10, 12}, added[] = {11, 14, 15, 17};

	assert_added(PKBPF_FOLLOW_DESCENDANTS, given, 3, added, ARRAY_SIZE(added));
}

static void processes_that_do_not_exist_have_no_children(void **state)
{
	static const uint32_t given[] = {99};
	struct u32_list list = {0};

	assert_added(PKBPF_FOLLOW_DESCENDANTS, given, 1, NULL, 0);
	assert_int_equal(target_tree_expand("/nonexistent", PKBPF_FOLLOW_DESCENDANTS, &list), 0);
	*array_add(&list) = 1;
	assert_int_equal(target_tree_expand("/nonexistent", PKBPF_FOLLOW_NONE, &list), 0);
	assert_true(target_tree_expand("/nonexistent", PKBPF_FOLLOW_DESCENDANTS, &list) < 0);
	assert_int_equal(list.count, 1);
	free(list.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_workers_but_not_other_programs),
		cmocka_unit_test(finds_all_descendants),
		cmocka_unit_test(adds_nobody_when_told_so),
		cmocka_unit_test(names_cannot_move_a_process_in_the_tree),
		cmocka_unit_test(those_that_were_given_are_not_added_again),
		cmocka_unit_test(processes_that_do_not_exist_have_no_children),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
