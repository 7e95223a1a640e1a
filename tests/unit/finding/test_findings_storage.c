// SPDX-License-Identifier: BSD-2-Clause
/* Tests who is said to be the reason for waits for a disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pkbpf/blockio.h>

#include "account_machine.h"
#include "finding_fixture.h"

#define MS  1000000ULL
#define MIB (1ULL << 20)

/* A program waits 9 s of 10 for 900 reads of 4 KiB, which the device served in 1 ms each. */
static struct findings beside(const struct relation *relations, size_t count)
{
	struct fake_profile fake;

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_BLOCKIO, 500 * MS,
		      19500 * MS);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){
				       .pid = 5, .comm = "app", .read_bytes = 900 * 4096});
	account_waits(&fake, 5, "app", PKBPF_WAIT_DISK, 900, 10 * MS, 1, FAKE_IPS(ACCOUNT_IO_SLEEP),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_requests(&fake, 5, "app", PKBPF_BLOCKIO_READ, 900, 4096, MS, 0);
	account_end(&fake);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(relation_list_add(profile_relations(fake.profile), &relations[i]),
				 0);
	return findings_of(&fake);
}

static struct relation device(unsigned int major, uint64_t bytes)
{
	struct relation relation = {.kind = PKBPF_RELATION_DEVICE, .value = bytes};

	snprintf(relation.text, sizeof(relation.text), "%u:0", major);
	return relation;
}

static struct relation other(uint64_t bytes)
{
	return (struct relation){.kind = PKBPF_RELATION_STORAGE,
				 .other_pid = 6,
				 .other_comm = "backup",
				 .value = bytes};
}

static void a_disk_is_shared_with_who_moves_most_on_it(void **state)
{
	const struct relation relations[] = {other(2000 * MIB), device(254, 2000 * MIB)};
	struct findings findings = beside(relations, 2);

	assert_non_null(finding_of(&findings, "disk_shared"));
	assert_non_null(strstr(findings.findings[0].text, "behind that of backup"));
}

static void bytes_of_other_disks_are_no_reason(void **state)
{
	const struct relation relations[] = {other(2000 * MIB), device(8, 2000 * MIB),
					     device(254, 4 * MIB)};
	struct findings findings = beside(relations, 3);

	assert_null(finding_of(&findings, "disk_shared"));
	assert_non_null(finding_of(&findings, "disk_bound"));
}

static void a_process_is_named_only_where_its_bytes_must_be_on_this_device(void **state)
{
	const struct relation relations[] = {other(2000 * MIB), device(254, 2000 * MIB),
					     device(8, 4 * MIB)};
	const struct relation elsewhere[] = {other(2000 * MIB), device(254, 2000 * MIB),
					     device(8, 2000 * MIB)};
	struct findings findings = beside(relations, 3);

	assert_non_null(strstr(finding_of(&findings, "disk_shared")->text,
			       "behind that of backup in `list_append`, backup moved 1.95 GiB"));
	/* It may have moved all of that elsewhere. */
	findings = beside(elsewhere, 3);
	assert_non_null(strstr(finding_of(&findings, "disk_shared")->text,
			       "behind that of other processes"));
	assert_non_null(strstr(finding_of(&findings, "disk_shared")->text, "on any device"));
}

static void a_limit_counts_when_the_rate_comes_near_it(void **state)
{
	static const struct {
		const char *text;
		bool holds_back;
	} limits[] = {
		{"90 reads/s in /app", true},
		{"90000 reads/s in /app", false},
		{"90 writes/s in /app", false},
		{"wiops=90 riops=100 in /app", true},
		{"rbps=1073741824 in /app", false},
		{"400000 bytes read/s in /app", true},
		/* Less than a third of it is used. */
		{"400 reads/s in /app", false},
		{"250 reads/s in /app", true},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct relation relation = {.kind = PKBPF_RELATION_IO_LIMIT, .pid = 5};
		struct findings findings;

		snprintf(relation.text, sizeof(relation.text), "%s", limits[i].text);
		findings = beside(&relation, 1);
		assert_int_equal(finding_of(&findings, "io_limit") != NULL, limits[i].holds_back);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_is_shared_with_who_moves_most_on_it),
		cmocka_unit_test(bytes_of_other_disks_are_no_reason),
		cmocka_unit_test(a_process_is_named_only_where_its_bytes_must_be_on_this_device),
		cmocka_unit_test(a_limit_counts_when_the_rate_comes_near_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
