// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the Python frames of the current thread, and merges them into the native stack. */
#include "python.bpf.h"

/* Bounds: interpreters of a process, threads in the list of each. */
#define MOST_INTERPRETERS 4
#define MOST_THREADS	  128
/* Entries read per call: the verifier follows each loop once, not their product. */
#define ENTRIES_PER_CALL 32
#define ENTRY_CALLS	 (PYTHON_MAX_WORDS / ENTRIES_PER_CALL)
/* On arm64 the state of a thread has the address of glibc's struct pthread, which ends at the
 * thread pointer. On x86-64 it begins there. */
#define MOST_THREAD_BYTES  4096
#define LISTED_INTERVAL_NS 500000000ULL
/* owner of frames that are no Python code: entries of the interpreter's loop */
#define OWNER_ENTRY 3
/* Stack references have tags in the lower bits. */
#define REFERENCE_TAGS 7ULL

int python_find_in_list(__u32 slot, __u64 interpreter);
int python_find_thread(__u32 slot);
int python_first_frame(__u32 slot);
int python_frame(__u32 slot);
int python_frames(__u32 slot);
int python_add_code(__u32 slot, __u64 code, __u32 instruction);
int python_read_string(__u32 slot, __u64 address, __u32 is_file);
int python_send_code(__u32 slot, __u64 code, __u64 fingerprint);
int python_push_part(__u32 slot, __u32 all_runs);

static __always_inline struct pkbpf_python_layout *layout_of(const struct python_scratch *python)
{
	__u32 key = python->layout;

	return bpf_map_lookup_elem(&python_layouts, &key);
}

static __always_inline bool read_word(__u64 address, __u64 *value)
{
	return !bpf_probe_read_user(value, sizeof(*value), (void *)address);
}

static __always_inline __u64 thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

#if PKBPF_UNWIND_ARM64
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return BPF_CORE_READ(task, thread.fsbase);
#endif
}

/* Identity of a process since its last exec. */
static __always_inline __u64 process_identity(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_time) ^ (__u64)BPF_CORE_READ(task, mm);
}

/* Takes a thread state if it is that of the current thread. */
static __always_inline bool take_thread(struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u64 thread)
{
	__u64 id;

	if (!thread || !read_word(thread + layout->thread_id, &id) ||
	    python->thread_pointer - id >= MOST_THREAD_BYTES)
		return false;
	python->thread = thread;
	return true;
}

/* Searches the threads of an interpreter; 1: found. */
__attribute__((noinline)) int python_find_in_list(__u32 slot, __u64 interpreter)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 thread;

	if (!python)
		return 0;
	layout = layout_of(python);
	if (!layout || !read_word(interpreter + layout->interpreter_threads, &thread))
		return 0;
	for (int i = 0; i < MOST_THREADS; i++) {
		if (take_thread(python, layout, thread))
			return 1;
		if (!thread || !read_word(thread + layout->thread_next, &thread))
			return 0;
	}
	return 0;
}

/* Asks user space for the slots that lead to a thread at once. The search costs it up to a
 * millisecond, and may find nothing. */
static __always_inline void report_listed(const struct python_scratch *python)
{
	__u32 key = 3 * UNWIND_MISS_SLOTS + (python->pid & (UNWIND_MISS_SLOTS - 1));
	struct pkbpf_unwind_miss *miss;
	__u64 *last_ns;

	counter_add(PKBPF_COUNTER_PYTHON_LISTED, 1);
	last_ns = bpf_map_lookup_elem(&unwind_miss_times, &key);
	if (!last_ns || python->time_ns - *last_ns < LISTED_INTERVAL_NS)
		return;
	*last_ns = python->time_ns;
	miss = bpf_ringbuf_reserve(&unwind_misses, sizeof(*miss), 0);
	if (!miss)
		return;
	miss->pid = python->pid;
	miss->end = PKBPF_MISS_PYTHON;
	miss->address = 0;
	miss->time_ns = python->time_ns;
	bpf_ringbuf_submit(miss, BPF_RB_NO_WAKEUP);
}

/* Finds the interpreter's state of the current thread; 1: found. */
__attribute__((noinline)) int python_find_thread(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 value;

	if (!python)
		return 0;
	layout = layout_of(python);
	if (!layout)
		return 0;
	python->thread_pointer = thread_pointer();
	/* Whoever holds the GIL. */
	if (layout->runtime_tstate_current &&
	    read_word(python->runtime + layout->runtime_tstate_current, &value) &&
	    take_thread(python, layout, value))
		return 1;
	for (int i = 0; i < PKBPF_PYTHON_SLOTS; i++)
		if (python->slots[i] &&
		    read_word(python->thread_pointer + (__s64)python->slots[i], &value) &&
		    take_thread(python, layout, value))
			return 1;
	if (!read_word(python->runtime + layout->runtime_interpreters_head, &value))
		return 0;
	for (int i = 0; i < MOST_INTERPRETERS; i++) {
		if (!value)
			return 0;
		if (python_find_in_list(slot, value)) {
			report_listed(python);
			return 1;
		}
		if (!read_word(value + layout->interpreter_next, &value))
			return 0;
	}
	return 0;
}

/* Finds the innermost frame; 0: there is none. */
__attribute__((noinline)) int python_first_frame(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 value;

	if (!python)
		return 0;
	layout = layout_of(python);
	if (!layout || !read_word(python->thread + layout->thread_frame, &value))
		return 0;
	python->frame = value;
	python->cframe = 0;
	switch (layout->chain) {
	case PKBPF_PYTHON_OBJECTS_CFRAME:
		if (!read_word(python->thread + layout->thread_cframe, &value))
			return 0;
		python->cframe = value;
		break;
	case PKBPF_PYTHON_CFRAME:
	case PKBPF_PYTHON_CFRAME_SHIM:
		python->cframe = value;
		if (!read_word(python->cframe + layout->cframe_current, &value))
			return 0;
		python->frame = value;
		break;
	}
	return python->frame != 0;
}

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
	return hash ^ (hash >> 29);
}

/* Field of a code object, by its offset there. */
static __always_inline __u64 code_field(const struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u32 offset)
{
	__u32 index = (offset - (layout->code_first_line & ~7U)) / 8;

	return python->code_bytes[index & (PYTHON_CODE_WORDS - 1)];
}

/*
 * Changes when another code object takes the address. Versions are never used twice by an
 * interpreter. Before them, a code object is told by the objects it refers to; those of another one
 * may be at the same addresses, so that the hash of the name counts as well. 0: unreadable.
 */
static __always_inline __u64 read_fingerprint(struct python_scratch *python,
					      const struct pkbpf_python_layout *layout, __u64 code)
{
	__u64 start = code + (layout->code_first_line & ~7U), version, hash = 0;
	__u32 size = layout->code_version ? 32 : PYTHON_CODE_BYTES;

	if (bpf_probe_read_user(python->code_bytes, size, (void *)start))
		return 0;
	if (layout->code_version) {
		version = code_field(python, layout, layout->code_version) >>
			  (layout->code_version & 4) * 8;
		version = (__u32)version;
		if (version)
			return mix(mix(1, version), (__u32)(python->code_bytes[0] >>
							    (layout->code_first_line & 4) * 8));
		if (bpf_probe_read_user(python->code_bytes, PYTHON_CODE_BYTES, (void *)start))
			return 0;
	}
	read_word(code_field(python, layout, layout->code_name) + layout->string_hash, &hash);
	hash = mix(hash, (__u32)(python->code_bytes[0] >> (layout->code_first_line & 4) * 8));
	hash = mix(hash, code_field(python, layout, layout->code_file));
	hash = mix(hash, code_field(python, layout, layout->code_name));
	hash = mix(hash, code_field(python, layout, layout->code_lines));
	return hash ? hash : 1;
}

static __always_inline void read_string(const struct pkbpf_python_layout *layout, __u64 address,
					bool wants_end, struct pkbpf_python_string *string)
{
	__u64 length = 0, data = address + layout->string_data, size;
	__u32 state = 0, width, kept;

	string->address = address;
	string->length = 0;
	string->bytes = 0;
	string->width = 0;
	string->reserved = 0;
	if (!address || !read_word(address + layout->string_length, &length) ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(address + layout->string_state)))
		return;
	state >>= layout->string_kind_bit & 31;
	width = state & 7;
	/* The characters of a string that is not compact are elsewhere. */
	if (!(state & 8) || (width != 1 && width != 2 && width != 4) || length > 1U << 20)
		return;
	if (state & 16)
		data = address + layout->string_ascii_data;
	kept = (__u32)length * width;
	if (kept > PKBPF_PYTHON_STRING_BYTES) {
		if (wants_end)
			data += kept - PKBPF_PYTHON_STRING_BYTES;
		kept = PKBPF_PYTHON_STRING_BYTES;
	}
	/* The verifier has to see the bound. That of 5.10 learns nothing about a register from a
	 * comparison of its lower half, so sizes are 64-bit. */
	size = kept;
	barrier_var(size);
	if (size > PKBPF_PYTHON_STRING_BYTES ||
	    bpf_probe_read_user(string->text, size, (void *)data))
		return;
	string->length = (__u32)length;
	string->bytes = kept;
	string->width = width;
}

/* Reads a string of the record: its name or file. A function of its own, that the verifier follows
 * once. */
__attribute__((noinline)) int python_read_string(__u32 slot, __u64 address, __u32 is_file)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;

	if (!python)
		return 0;
	layout = layout_of(python);
	if (!layout)
		return 0;
	if (is_file)
		read_string(layout, address, true, &python->record.file);
	else
		read_string(layout, address, false, &python->record.name);
	return 0;
}

/* Reads the line table behind the record and returns the bytes read. */
static __always_inline __u64 read_lines(struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u64 address)
{
	__u64 total = 0, size;

	python->record.line_address = address;
	python->record.line_size = 0;
	if (!address || !read_word(address + layout->bytes_size, &total))
		return 0;
	python->record.line_size = total;
	if (total > PKBPF_PYTHON_LINE_BYTES)
		return 0;
	size = total;
	barrier_var(size);
	if (size > PKBPF_PYTHON_LINE_BYTES ||
	    bpf_probe_read_user(python->lines, size, (void *)(address + layout->bytes_data)))
		return 0;
	return size;
}

/* Sends the record of a code object; 1: sent. */
__attribute__((noinline)) int python_send_code(__u32 slot, __u64 code, __u64 fingerprint)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_event_python_code *record;
	struct pkbpf_python_layout *layout;
	__u64 name = 0, file = 0, lines = 0, size;

	if (!python)
		return 0;
	layout = layout_of(python);
	if (!layout)
		return 0;
	record = &python->record;
	record->first_line = 0;
	bpf_probe_read_user(&record->first_line, sizeof(record->first_line),
			    (void *)(code + layout->code_first_line));
	read_word(code + (layout->code_qualified_name ? layout->code_qualified_name
						      : layout->code_name),
		  &name);
	read_word(code + layout->code_file, &file);
	read_word(code + layout->code_lines, &lines);
	python_read_string(slot, name, 0);
	python_read_string(slot, file, 1);
	size = read_lines(python, layout, lines);
	record->line_bytes = size;
	size = sizeof(*record) + ((size + 7) & ~7ULL);
	record->header.size = size;
	record->header.kind = PKBPF_EVENT_PYTHON_CODE;
	record->header.flags = 0;
	/* Before the event that has the frame. */
	record->header.time_ns = python->time_ns - 1;
	record->pid = python->pid;
	record->code = code;
	record->fingerprint = fingerprint;
	record->minor = layout->minor;
	record->free_threaded = layout->free_threaded;
	record->reserved = 0;
	barrier_var(size);
	if (size > sizeof(*record) + PKBPF_PYTHON_LINE_BYTES ||
	    bpf_ringbuf_output(&sample_ring, record, size, BPF_RB_NO_WAKEUP)) {
		counter_add(PKBPF_COUNTER_PYTHON_CODE_LOST, 1);
		return 0;
	}
	counter_add(PKBPF_COUNTER_PYTHON_CODES, 1);
	return 1;
}

/* Names a code object, unless it was named before. Returns the hash of what it is. */
static __always_inline __u64 name_code(struct python_scratch *python,
				       const struct pkbpf_python_layout *layout, __u32 slot,
				       __u64 code)
{
	__u64 fingerprint = read_fingerprint(python, layout, code), key;
	struct python_code_set *set;
	__u32 index;

	if (!fingerprint)
		return 0;
	key = mix(mix(python->identity, code), fingerprint);
	index = key >> (64 - PYTHON_CODE_SET_BITS);
	set = bpf_map_lookup_elem(&python_codes, &index);
	if (!set || set->first == key || set->second == key)
		return key;
	if (python_send_code(slot, code, fingerprint)) {
		set->second = set->first;
		set->first = key;
	}
	return key;
}

/* Adds a frame; 1: there is no room. */
__attribute__((noinline)) int python_add_code(__u32 slot, __u64 code, __u32 instruction)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 word, key;
	__u32 at;

	if (!python)
		return 1;
	layout = layout_of(python);
	at = python->count;
	if (!layout || at >= PYTHON_MAX_WORDS - 1) {
		counter_add(PKBPF_COUNTER_PYTHON_TOO_DEEP, 1);
		return 1;
	}
	key = name_code(python, layout, slot, code);
	word = pkbpf_python_word(code, instruction);
	python->names = mix(python->names, key);
	python->hash = mix(mix(python->hash, key), word);
	python->words[at & (PYTHON_MAX_WORDS - 1)] = word;
	python->count = at + 1;
	return 0;
}

/* Ends the current run at an anchor on the C stack. */
static __always_inline void end_run(struct python_scratch *python, __u64 anchor)
{
	__u32 at = python->count;

	if (at >= PYTHON_MAX_WORDS)
		return;
	python->words[python->run & (PYTHON_MAX_WORDS - 1)] = pkbpf_python_anchor_word(anchor);
	python->hash = mix(python->hash, anchor);
	python->words[at & (PYTHON_MAX_WORDS - 1)] = pkbpf_python_anchor_word(0);
	python->run = at;
	python->count = at + 1;
}

static __always_inline __u64 frame_word(const struct python_scratch *python, __u32 offset)
{
	return python->frame_bytes[(offset / 8) & (PYTHON_FRAME_BYTES / 8 - 1)];
}

static __always_inline __u8 frame_byte(const struct python_scratch *python, __u32 offset)
{
	return frame_word(python, offset) >> (offset & 7) * 8;
}

/* Free-threaded interpreters have a copy of the code for each thread. */
static __always_inline __u64 first_instruction(const struct python_scratch *python,
					       const struct pkbpf_python_layout *layout, __u64 code)
{
	__u32 index = layout->frame_tlbc ? (__u32)(frame_word(python, layout->frame_tlbc) >>
						   (layout->frame_tlbc & 4) * 8)
					 : 0;
	__u64 copies, copy;

	if (index && read_word(code + layout->code_tlbc, &copies) &&
	    read_word(copies + 8 + 8ULL * index, &copy))
		return copy;
	return code + layout->code_first_instruction;
}

/* The instruction of a frame, in units of two bytes from the first one. */
static __always_inline __u32 frame_instruction(const struct python_scratch *python,
					       const struct pkbpf_python_layout *layout, __u64 code)
{
	__u64 value = frame_word(python, layout->frame_instruction);

	if (layout->instruction == PKBPF_PYTHON_ADDRESS)
		value = (value - first_instruction(python, layout, code)) / 2;
	else
		value = (__u32)(value >> (layout->frame_instruction & 4) * 8) >>
			(layout->instruction == PKBPF_PYTHON_BYTES);
	return value < PKBPF_PYTHON_NO_INSTRUCTION ? value : PKBPF_PYTHON_NO_INSTRUCTION;
}

/* Reads one frame; 1: the chain ends. */
__attribute__((noinline)) int python_frame(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 frame, code, value, size;

	if (!python)
		return 1;
	layout = layout_of(python);
	frame = python->frame;
	if (!layout || !frame) {
		python->ended = 1;
		return 1;
	}
	size = layout->frame_size;
	barrier_var(size);
	if (size > PYTHON_FRAME_BYTES)
		size = PYTHON_FRAME_BYTES;
	if (bpf_probe_read_user(python->frame_bytes, size, (void *)frame)) {
		counter_add(PKBPF_COUNTER_PYTHON_UNREADABLE, 1);
		return 1;
	}
	python->frame = frame_word(python, layout->frame_previous);
	if (layout->chain >= PKBPF_PYTHON_CFRAME_SHIM &&
	    frame_byte(python, layout->frame_owner) >= OWNER_ENTRY) {
		end_run(python, frame);
		return 0;
	}
	code = frame_word(python, layout->frame_code) & ~REFERENCE_TAGS;
	/* A frame that is about to be freed has no code. */
	if (code && python_add_code(slot, code, frame_instruction(python, layout, code)))
		return 1;
	if (layout->chain == PKBPF_PYTHON_OBJECTS_CFRAME ||
	    (layout->chain == PKBPF_PYTHON_CFRAME && frame_byte(python, layout->frame_is_entry))) {
		end_run(python, python->cframe);
		if (!read_word(python->cframe + layout->cframe_previous, &value))
			value = 0;
		python->cframe = value;
	}
	return 0;
}

__attribute__((noinline)) int python_frames(__u32 slot)
{
	for (int i = 0; i < ENTRIES_PER_CALL; i++)
		if (python_frame(slot))
			return 1;
	return 0;
}

/* Reads the chain of frames into the words. */
static __always_inline void read_chain(struct python_scratch *python, __u32 slot)
{
	python->names = 0;
	python->hash = 0;
	python->next = 0;
	python->ended = 0;
	python->run = 0;
	python->words[0] = pkbpf_python_anchor_word(0);
	python->count = 1;
	for (int i = 0; i < ENTRY_CALLS; i++)
		if (python_frames(slot))
			break;
	/* The last run is empty if a run ended with the last frame. */
	if (python->count == python->run + 1)
		python->count--;
}

/* Reads the Python frames of the current thread. */
static __always_inline void read_frames(struct python_scratch *python, __u32 slot,
					const struct pkbpf_python_process *process, __u32 pid,
					__u64 now_ns)
{
	python->count = 0;
	python->hash = 0;
	python->names = 0;
	python->layout = process->layout - 1;
	python->runtime = process->runtime;
	python->slots[0] = process->slots[0];
	python->slots[1] = process->slots[1];
	python->pid = pid;
	python->time_ns = now_ns;
	python->identity = process_identity();
	if (!python_find_thread(slot)) {
		counter_add(PKBPF_COUNTER_PYTHON_NO_THREAD, 1);
		return;
	}
	if (python_first_frame(slot))
		read_chain(python, slot);
}

/* The next anchor of the merge. */
static __always_inline __u64 next_anchor(const struct python_scratch *python)
{
	__u32 next = python->next;

	return next < python->count
		       ? pkbpf_python_anchor(python->words[next & (PYTHON_MAX_WORDS - 1)])
		       : PYTHON_NO_ANCHOR;
}

__attribute__((noinline)) int python_rewind(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	python->next = 0;
	scratch->unwind.python_anchor = next_anchor(python);
	return 0;
}

__attribute__((noinline)) int python_walk(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);
	struct unwind_scratch *unwind;

	if (!scratch || !python)
		return 0;
	unwind = &scratch->unwind;
	read_frames(python, slot, &unwind->python, scratch->sample.pid,
		    scratch->sample.header.time_ns);
	unwind->python_count = python->count;
	if (!python->count)
		return 0;
	counter_add(PKBPF_COUNTER_PYTHON_STACKS, 1);
	unwind->python_names = python->names;
	unwind->python_anchor = next_anchor(python);
	return 0;
}

/* Adds a word to the user stack; false: there is no room. */
static __always_inline bool push_word(struct sample_scratch *scratch, __u64 word)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u32 depth = unwind->state.depth, index = unwind->first_frame + depth;

	if (depth >= unwind->limit || index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		return false;
	scratch->ips[index] = word;
	unwind->state.depth = depth + 1;
	return true;
}

/* Adds the frames of a run, up to the next anchor, or those of all runs; 1: all are added. */
__attribute__((noinline)) int python_push_part(__u32 slot, __u32 all_runs)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 1;
	for (int i = 0; i < ENTRIES_PER_CALL; i++) {
		__u32 at = python->next;
		__u64 word;

		if (at >= python->count)
			return 1;
		word = python->words[at & (PYTHON_MAX_WORDS - 1)];
		if (pkbpf_python_kind(word) == PKBPF_PYTHON_ANCHOR && !all_runs)
			return 1;
		python->next = at + 1;
		if (pkbpf_python_kind(word) != PKBPF_PYTHON_ANCHOR)
			push_word(scratch, word);
	}
	return 0;
}

__attribute__((noinline)) int python_push_run(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	python->next++; /* the run's own anchor */
	for (int i = 0; i < ENTRY_CALLS; i++)
		if (python_push_part(slot, 0))
			break;
	scratch->unwind.python_anchor = next_anchor(python);
	return 0;
}

/* The native stack ends before the frames that run these: it was cut, or the interpreter has no
 * anchors. */
__attribute__((noinline)) int python_push_rest(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	counter_add(PKBPF_COUNTER_PYTHON_UNPLACED, 1);
	push_word(scratch, PKBPF_PYTHON_CUT_WORD);
	for (int i = 0; i < ENTRY_CALLS; i++)
		if (python_push_part(slot, 1))
			break;
	scratch->unwind.python_anchor = PYTHON_NO_ANCHOR;
	return 0;
}

__attribute__((noinline)) __u64 python_stack_hash(__u32 slot, __u32 pid, __u64 now_ns)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &pid);

	if (!python || !process)
		return PYTHON_NOT_HERE;
	if (!process->python.layout)
		return PYTHON_NOT_HERE;
	read_frames(python, slot, &process->python, pid, now_ns);
	return python->count ? mix(python->hash, python->count) : 0;
}
