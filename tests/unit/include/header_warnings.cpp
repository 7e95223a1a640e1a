// SPDX-License-Identifier: BSD-2-Clause
/* All of pkbpf.h and pkbpf_snapshot.h, compiled with the warnings of strict projects, with PKBPF_DISABLE and without. */
#include <pkbpf/pkbpf.h>
#include <pkbpf/pkbpf_snapshot.h>

int main(int argc, char **argv)
{
	PKBPF_REGION("scope");
	PKBPF_REGION_ITEMS("items", argc);
	pkbpf::region one("one"), two("two", 2);

	pkbpf_enter("entered", 1);
	pkbpf_items(1);
	pkbpf_leave();
	pkbpf_begin("begun", 7, 0);
	pkbpf_end(7);
	pkbpf_memory snapshot;
	if (pkbpf_snapshot(&snapshot) == 0)
		return pkbpf_snapshot_fragmentation(&snapshot) > 1;
	return argv[0] == nullptr || pkbpf_is_watched();
}
