// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Maps and constants shared by all programs of the object. */
#include "shared.bpf.h"
#include "shed.bpf.h"
#include "cpu_sampler.bpf.h"
#include "offcpu_lock_tables.bpf.h"
#include "python.bpf.h"
#include "resource.bpf.h"
#include "ring_share.bpf.h"
#include "stack_id.bpf.h"
#include "stack_memo.bpf.h"
#include "task_filter.bpf.h"
#include "uprobe.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct pkbpf_bpf_config config = {};
__u32 process_generation = 0;
struct pkbpf_shed_control shed_control = {};

struct counter_map counters SEC(".maps");
struct sample_ring_map sample_ring SEC(".maps");
struct scratch_map sample_scratch SEC(".maps");
struct cpu_samplers_map cpu_samplers SEC(".maps");
struct target_map target_pids SEC(".maps");
struct target_map target_tids SEC(".maps");
struct target_cgroup_map target_cgroup SEC(".maps");
struct target_cgroup_ids_map target_cgroup_ids SEC(".maps");
struct resource_exiting_map resource_exiting_threads SEC(".maps");

struct ring_shares_map ring_shares SEC(".maps");
struct stacks_sent_map stacks_sent SEC(".maps");
struct unwind_rows_map unwind_rows SEC(".maps");
struct unwind_pages_map unwind_pages SEC(".maps");
struct unwind_rules_map unwind_rules SEC(".maps");
struct unwind_recent_map unwind_recent SEC(".maps");
struct unwind_files_map unwind_files SEC(".maps");
struct unwind_mappings_map unwind_mappings SEC(".maps");
struct unwind_processes_map unwind_processes SEC(".maps");
struct unwind_misses_map unwind_misses SEC(".maps");
struct unwind_miss_times_map unwind_miss_times SEC(".maps");
struct raw_ring_map raw_ring SEC(".maps");
struct raw_scratch_map raw_scratch SEC(".maps");

struct lock_rows_map lock_rows SEC(".maps");
struct lock_index_map lock_index SEC(".maps");
struct offcpu_free_map lock_free_rows SEC(".maps");
struct lock_parts_map lock_parts SEC(".maps");
struct lock_part_index_map lock_part_index SEC(".maps");
struct offcpu_free_map lock_free_parts SEC(".maps");
struct lock_threads_map lock_threads SEC(".maps");
struct lock_tids_map lock_tids SEC(".maps");
struct offcpu_causes_map offcpu_causes SEC(".maps");
struct offcpu_threads_map offcpu_threads SEC(".maps");
struct offcpu_rows_map offcpu_rows SEC(".maps");
struct offcpu_row_index_map offcpu_row_index SEC(".maps");
struct offcpu_free_map offcpu_free_rows SEC(".maps");
struct offcpu_histograms_map offcpu_histograms SEC(".maps");
struct offcpu_histogram_index_map offcpu_histogram_index SEC(".maps");
struct offcpu_free_map offcpu_free_histograms SEC(".maps");
struct offcpu_last_switch_map offcpu_last_switch SEC(".maps");
struct stack_memos_map stack_memos SEC(".maps");
struct memo_scratch_map memo_scratch SEC(".maps");
struct probed_calls_map probed_calls SEC(".maps");
struct span_threads_map span_threads SEC(".maps");
struct span_stacks_map span_stacks SEC(".maps");
struct python_layouts_map python_layouts SEC(".maps");
struct python_codes_map python_codes SEC(".maps");
struct python_scratch_map python_scratch SEC(".maps");
