/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the HTML report holds beside its text: a u32 with the length of a JSON document, that
 * document, and columns of integers, each padded to 8 bytes. All numbers are little endian.
 *
 *	{"report": …, "functions": [["name", mark, "module", plumbing, gpu wait], …],
 *	 "threads": ["name", …],
 *	 "kinds": {"cpu": {"title": "CPU", "unit": "samples", "is_time": false, "states": […],
 *	           "nodes": N, "values": N, "parts": N}, …},
 *	 "slices": [[begin_ns, end_ns], …],
 *	 "samples": {"count": N, "cell_ns": 10000000},
 *	 "lanes": {"waits": N, "samples": N, "stacks": N, "functions": N, "least_ns": N,
 *	           "missing": N, "causes": ["…", …],
 *	           "threads": [[pid, tid, "comm", "process", row or -1, begin_ns, end_ns, ns on a
 *CPU after the last wait, whether begin, end and CPU time are known, waits, samples], …],
 *	           "regions": [[lane, begin_ns, length_ns, "name"], …]}}
 *
 * The columns of each kind, in the order of "kinds":
 *	name   i32	of each node of the call tree in preorder: function, or -1 - thread
 *	depth  u16	of each node; the root, whose name is 0, has depth 0
 *	node   u32	of each value: where its stack ends
 *	row    u32	of each value: index in report.rows, 0xffffffff: none of them
 *	state  u8	of each value: index in states
 *	value  f64	weight of the stack in that row and state
 *	part   u32	of each part of a value that lies in one slice: the value
 *	slice  u16	of each part: index in slices
 *	weight f32	of each part: its weight; of a value, all parts add up to it
 *
 * Then those of the single CPU samples of a trace, in order of time:
 *	cell   u32	of the samples of one row within cell_ns: since the begin of the profile
 *	row    u32	index in report.rows, 0xffffffff: none of them
 *	weight u16	how many
 *
 * Then those of lanes (lane_list.h). Of each wait, by lane and time:
 *	begin  f64	ns since the begin of the profile
 *	length f64	ns in its state
 *	queue  f64	ns in the run queue after that
 *	ran    f64	ns on a CPU before it, since the wait before
 *	kind   u8	enum lane_kind
 *	state  u8	enum pkbpf_wait_state
 *	cause  u8	index in causes
 *	wake   u8	enum pkbpf_wake
 *	stack  u32	index of its stack
 *	waker  u32	tid; 0: none
 *	lane   u32	1 + its lane; 0: none
 *	owner  u32	tid of the lock's holder; 0: unknown
 *	lane   u32	1 + its lane; 0: none
 * of each CPU sample, by lane and time:
 *	begin  f64
 *	stack  u32
 * of each stack:
 *	end    u32	where it ends in the last column; it begins where the one before ends
 * and of each frame of these, leaf first:
 *	name   u32	function
 */
#ifndef PKBPF_EXPORT_PAGE_DATA_H
#define PKBPF_EXPORT_PAGE_DATA_H

#include "export/format.h"

/* Writes it to `out`. 0 or -ENOMEM; errors of writing are the stream's. */
int page_data_write(struct results *results, const struct format_options *options, FILE *out);

/* That, packed as it stands in a page: for a page that is open (renewProfile() of page.js). */
extern const struct format_ops format_page_data;

#endif
