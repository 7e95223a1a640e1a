// SPDX-License-Identifier: BSD-2-Clause
/* Tests that relations, peers and regions are the same behind a recording, and those of a process
 * without the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "profile/account/peer_table.h"
#include "profile/account/region_table.h"
#include "profile/account/relation_list.h"
#include "profile/account/slow_region.h"
#include "recorded_profile.h"

static struct fake_profile fake;
static uint32_t process, pid, other_process;
static uint32_t stack;

/* The first process with figures, and another one. */
static int start(void **state)
{
	const struct profile_row *rows;
	size_t count;

	account_scenario_init(&fake);
	rows = profile_rows(fake.profile, &count);
	process = other_process = rows[0].process;
	stack = rows[0].stack;
	pid = process_table_by_id(fake.processes, process)->pid;
	for (size_t i = 0; i < count && other_process == process; i++)
		if (process_table_by_id(fake.processes, rows[i].process)->pid != pid)
			other_process = rows[i].process;
	return other_process == process ? -1 : 0;
}

static int stop(void **state)
{
	fake_profile_done(&fake);
	return 0;
}

static struct profile *read_again(bool is_of_pid)
{
	const struct slice_choice choice = {.pids = &pid, .pid_count = 1};
	const struct profile *profile = fake.profile;
	int fd = recorded_profiles(&profile, 1);
	struct profile *read = recorded_read(fd, 0, is_of_pid ? &choice : NULL);

	close(fd);
	return read;
}

static size_t stack_size(const struct profile *profile, uint32_t number)
{
	size_t count;

	profile_stack(profile, number, &count);
	return count;
}

static void relations_are_the_same(void **state)
{
	struct relation_list *relations = profile_relations(fake.profile);
	uint32_t other_pid = process_table_by_id(fake.processes, other_process)->pid;
	size_t before = relation_list_count(relations);
	struct profile *read;
	size_t found = 0;

	assert_int_equal(
		relation_list_add(relations, &(struct relation){.kind = PKBPF_RELATION_REPLY,
								.pid = pid,
								.other_pid = 4711,
								.other_comm = "the other",
								.stack = stack,
								.other_stack = RELATION_NO_STACK,
								.text = "127.0.0.1:80",
								.count = 12,
								.value = UINT64_MAX}),
		0);
	assert_int_equal(
		relation_list_add(relations, &(struct relation){.kind = PKBPF_RELATION_CALLS,
								.pid = other_pid,
								.stack = RELATION_NO_STACK,
								.other_stack = stack,
								.text = "read",
								.count = 1}),
		0);
	read = read_again(false);
	assert_int_equal(relation_list_count(profile_relations(read)), before + 2);
	for (size_t i = 0; i < before + 2; i++) {
		const struct relation *relation = relation_list_at(profile_relations(read), i);

		if (relation->kind == PKBPF_RELATION_REPLY && relation->other_pid == 4711) {
			assert_int_equal(relation->pid, pid);
			assert_string_equal(relation->other_comm, "the other");
			assert_string_equal(relation->text, "127.0.0.1:80");
			assert_int_equal(relation->count, 12);
			assert_true(relation->value == UINT64_MAX);
			assert_int_equal(stack_size(read, relation->stack),
					 stack_size(fake.profile, stack));
			assert_int_equal(relation->other_stack, RELATION_NO_STACK);
			found++;
		}
		if (relation->kind == PKBPF_RELATION_CALLS && relation->pid == other_pid)
			found += relation->stack == RELATION_NO_STACK;
	}
	assert_int_equal(found, 2);
	profile_free(read);
	read = read_again(true);
	for (size_t i = 0; i < relation_list_count(profile_relations(read)); i++)
		assert_int_equal(relation_list_at(profile_relations(read), i)->pid, pid);
	assert_true(relation_list_count(profile_relations(read)) >= 1);
	profile_free(read);
}

static void peers_are_the_same(void **state)
{
	struct peer_table *peers = profile_peers(fake.profile);
	const struct peer tcp = {.address = {.address = {10, 0, 0, 7},
					     .net = 4026531840,
					     .port = 5432,
					     .family = PKBPF_NETWORK_IPV4,
					     .role = PKBPF_NETWORK_SERVER},
				 .pid = 99,
				 .comm = "postgres"};
	const struct peer local = {.address = {.family = PKBPF_NETWORK_UNIX},
				   .name = "/run/a\nb.sock"};
	uint32_t before = (uint32_t)peer_table_count(peers);
	struct profile *read;
	const struct peer *peer;

	assert_int_equal(peer_table_get(peers, &tcp), before + 1);
	assert_int_equal(peer_table_get(peers, &local), before + 2);
	peer_table_set_host(peers, before + 1, "db.example");
	read = read_again(false);
	assert_int_equal(peer_table_count(profile_peers(read)), before + 2);
	peer = peer_table_at(profile_peers(read), before + 1);
	assert_memory_equal(peer->address.address, tcp.address.address, 16);
	assert_int_equal(peer->address.net, 4026531840);
	assert_int_equal(peer->address.port, 5432);
	assert_int_equal(peer->address.role, PKBPF_NETWORK_SERVER);
	assert_int_equal(peer->pid, 99);
	assert_string_equal(peer->comm, "postgres");
	peer = peer_table_at(profile_peers(read), before + 2);
	assert_int_equal(peer->address.family, PKBPF_NETWORK_UNIX);
	assert_string_equal(peer->name, "/run/a\nb.sock");
	profile_free(read);
}

static void slow_regions_are_the_same(void **state)
{
	struct slow_region_list *list = profile_slow_regions(fake.profile);
	struct slow_region region = {.process = process,
				     .tid = pid + 1,
				     .stack = stack,
				     .cgroup_id = 5,
				     .start_ns = 1000,
				     .wall_ns = 70000,
				     .part_ns = {[0] = 30000}};
	const struct slow_region *got, **sorted;
	size_t count;
	struct profile *read;

	slow_region_list_limit(list, 10);
	region.comm = profile_intern_string(fake.profile, "worker");
	region.name = profile_intern_string(fake.profile, "request");
	assert_int_equal(slow_region_list_add(list, &region), 0);
	region.process = other_process;
	region.wall_ns = 60000;
	assert_int_equal(slow_region_list_add(list, &region), 0);
	read = read_again(true);
	assert_int_equal(slow_region_list_sorted(profile_slow_regions(read), &sorted, &count), 0);
	assert_int_equal(count, 1);
	got = sorted[0];
	assert_int_equal(process_table_by_id(profile_processes(read), got->process)->pid, pid);
	assert_int_equal(got->tid, pid + 1);
	assert_string_equal(profile_string(read, got->comm), "worker");
	assert_string_equal(profile_string(read, got->name), "request");
	assert_int_equal(stack_size(read, got->stack), stack_size(fake.profile, stack));
	assert_int_equal(got->cgroup_id, 5);
	assert_int_equal(got->wall_ns, 70000);
	assert_int_equal(got->part_ns[0], 30000);
	free(sorted);
	profile_free(read);
}

/* One inside of another, and one of another process. */
static void regions_are_the_same(void **state)
{
	struct region_table *table = profile_regions(fake.profile);
	const struct region_sums sums = {.count = 5, .total_ns = 900, .max_ns = 400, .items = 3};
	const struct region_bucket buckets[] = {{2, 1}, {7, 4}};
	uint32_t outer_name = profile_intern_string(fake.profile, "outer");
	uint32_t inner_name = profile_intern_string(fake.profile, "inner");
	int64_t outer = region_table_get(table, process, REGION_ROOT, outer_name, 0);
	int64_t inner = region_table_get(table, process, (uint32_t)outer, inner_name, 0);
	int64_t other = region_table_get(table, other_process, REGION_ROOT, outer_name, 0);
	struct profile *read;

	assert_true(outer >= 0 && inner >= 0 && other >= 0);
	assert_int_equal(region_table_add(table, (uint32_t)outer, &sums, buckets, 2), 0);
	assert_int_equal(region_table_add(table, (uint32_t)inner, &sums, buckets, 1), 0);
	assert_int_equal(region_table_add(table, (uint32_t)other, &sums, NULL, 0), 0);
	for (int is_of_pid = 0; is_of_pid < 2; is_of_pid++) {
		const struct region *region;
		size_t count;

		read = read_again(is_of_pid);
		count = region_table_count(profile_regions(read));
		assert_int_equal(count, is_of_pid ? 2 : 3);
		region = region_table_at(profile_regions(read), 0);
		assert_string_equal(profile_string(read, region->name), "outer");
		assert_int_equal(region->parent, REGION_ROOT);
		assert_int_equal(region->sums.count, 5);
		assert_int_equal(region->sums.max_ns, 400);
		assert_int_equal(region->bucket_count, 2);
		assert_int_equal(region->buckets[1].index, 7);
		assert_int_equal(region->buckets[1].count, 4);
		region = region_table_at(profile_regions(read), 1);
		assert_string_equal(profile_string(read, region->name), "inner");
		assert_int_equal(region->parent, 0);
		assert_int_equal(region->bucket_count, 1);
		assert_int_equal(region->sums.items, 3);
		profile_free(read);
	}
}

#define WITH_PROFILE(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PROFILE(relations_are_the_same),
		WITH_PROFILE(peers_are_the_same),
		WITH_PROFILE(slow_regions_are_the_same),
		WITH_PROFILE(regions_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
