// SPDX-License-Identifier: BSD-2-Clause
/* Maps of numbered and of recognised stacks. */
#include "source/stack_maps.h"

#include <bpf/libbpf.h>

#include <pkbpf/config.h>

#include "pkbpf.skel.h"

void stack_maps_choose(struct pkbpf_bpf *skeleton, bool wanted)
{
	bpf_map__set_autocreate(skeleton->maps.stacks_sent, wanted);
	bpf_map__set_autocreate(skeleton->maps.offcpu_memos, wanted);
	bpf_map__set_autocreate(skeleton->maps.memo_scratch, wanted);
}
