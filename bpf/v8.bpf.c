// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Identifies JavaScript functions; sends a record of each new one. */
#include "v8.bpf.h"

#include "unwind.bpf.h"

int v8_read_string(__u32 slot, __u64 string, __u32 is_path);

struct v8_functions_map v8_functions SEC(".maps");
struct v8_scratch_map v8_scratch SEC(".maps");

static __always_inline struct v8_scratch *v8_scratch_get(__u32 slot)
{
	return bpf_map_lookup_elem(&v8_scratch, &slot);
}

static __always_inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
	return hash ^ (hash >> 29);
}

/* 0: unreadable. No wanted type is 0. */
static __always_inline __u16 read_type(__u64 object)
{
	__u64 map;
	__u16 type = 0;

	if (!v8_read_word(object, 0, &map) || !v8_is_object(map) ||
	    bpf_probe_read_user(&type, sizeof(type), (void *)(map - 1 + PKBPF_V8_MAP_TYPE)))
		return 0;
	return type;
}

static __always_inline __u32 read_u32(__u64 object, __u64 offset)
{
	__u32 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)(object - 1 + offset));
	return value;
}

static __always_inline void read_string(__u64 reference, bool wants_end,
					struct pkbpf_v8_string *string)
{
	__u16 type = read_type(reference);
	__u64 data, size;
	__u32 length, kept;

	string->reference = reference;
	string->length = 0;
	string->bytes = 0;
	string->width = 0;
	string->reserved = 0;
	if ((type & PKBPF_V8_STRING_KIND) == PKBPF_V8_THIN && type < PKBPF_V8_FIRST_NO_STRING) {
		if (!v8_read_word(reference, PKBPF_V8_STRING_DATA, &reference))
			return;
		type = read_type(reference);
	}
	if (!type || type >= PKBPF_V8_FIRST_NO_STRING ||
	    (type & PKBPF_V8_STRING_KIND) != PKBPF_V8_FLAT)
		return;
	length = read_u32(reference, PKBPF_V8_STRING_LENGTH);
	if (length > 1U << 20)
		return;
	data = reference - 1 + PKBPF_V8_STRING_DATA;
	kept = type & PKBPF_V8_STRING_ONE_BYTE ? length : 2 * length;
	if (kept > PKBPF_V8_STRING_BYTES) {
		if (wants_end)
			data += kept - PKBPF_V8_STRING_BYTES;
		kept = PKBPF_V8_STRING_BYTES;
	}
	/* The verifier has to see the bound. That of 5.10 learns nothing about a register from a
	 * comparison of its lower half, so sizes are 64-bit. */
	size = kept;
	barrier_var(size);
	if (size > PKBPF_V8_STRING_BYTES || bpf_probe_read_user(string->text, size, (void *)data))
		return;
	string->length = length;
	string->bytes = kept;
	string->width = type & PKBPF_V8_STRING_ONE_BYTE ? 1 : 2;
}

/* Reads a string of the record: its name or path. A function of its own, that the verifier follows
 * once. Returns its length. */
__attribute__((noinline)) int v8_read_string(__u32 slot, __u64 string, __u32 is_path)
{
	struct v8_scratch *v8 = v8_scratch_get(slot);

	if (!v8)
		return 0;
	if (is_path) {
		read_string(string, true, &v8->record.path);
		return 0;
	}
	read_string(string, false, &v8->record.name);
	return v8->record.name.length;
}

/* Reads the name and the positions of a function that was compiled. */
static __always_inline void read_scope(struct v8_scratch *v8, __u32 slot, __u64 scope)
{
	__u64 flags = 0, locals = 0, name = 0, positions[2], index;
	int length = 0;

	if (!v8_read_word(scope, PKBPF_V8_SCOPE_AT(0), &flags) ||
	    !v8_read_word(scope, PKBPF_V8_SCOPE_AT(PKBPF_V8_SCOPE_LOCALS), &locals))
		return;
	if (!v8->v8.scope_is_raw)
		flags >>= 32;
	locals >>= 32;
	if (locals > PKBPF_V8_MOST_LOCALS)
		return;
	index = pkbpf_v8_scope_names(&v8->v8, (__u32)flags, (__u32)locals);
	if (PKBPF_V8_SCOPE_HAS_FUNCTION(flags)) {
		v8_read_word(scope, PKBPF_V8_SCOPE_AT(index), &name);
		length = v8_read_string(slot, name, 0);
		index += 2;
	}
	if (PKBPF_V8_SCOPE_HAS_INFERRED(flags)) {
		name = 0;
		if (!length && v8_read_word(scope, PKBPF_V8_SCOPE_AT(index), &name))
			v8_read_string(slot, name, 0);
		index++;
	}
	if (v8->v8.scope_is_raw)
		index = PKBPF_V8_SCOPE_POSITIONS;
	if (bpf_probe_read_user(positions, sizeof(positions),
				(void *)(scope - 1 + PKBPF_V8_SCOPE_AT(index))))
		return;
	/* Small integers are in the upper half. */
	v8->record.start = (__s32)(positions[0] >> 32);
	v8->record.end = (__s32)(positions[1] >> 32);
}

enum fill_result {
	FILL_NOTHING,	 /* no function */
	FILL_BUILTIN,	 /* a function of V8 itself: the native frame has its name */
	FILL_UNREADABLE, /* now: a garbage collection may be under way */
	FILL_FUNCTION,
};

/* Fills in the record of a function. */
static __always_inline enum fill_result fill_record(struct v8_scratch *v8, __u32 slot,
						    const struct sample_scratch *scratch)
{
	struct pkbpf_event_v8_function *record = &v8->record;
	__u64 script = 0, name = 0, path = 0, source = 0;
	__u16 type = read_type(v8->shared), script_type;

	if (!type || !v8_read_word(v8->shared, v8->v8.shared_script, &script))
		return FILL_UNREADABLE;
	/* V8's own functions have no script. */
	script_type = v8_is_object(script) ? read_type(script) : 1;
	if (!script_type)
		return FILL_UNREADABLE;
	if (type != v8->v8.shared_type)
		return FILL_NOTHING;
	if (script_type != v8->v8.script_type)
		return FILL_BUILTIN;
	record->header.size = sizeof(*record);
	record->header.kind = PKBPF_EVENT_V8_FUNCTION;
	record->header.flags = 0;
	/* Before the event that has the frame. */
	record->header.time_ns = scratch->sample.header.time_ns - 1;
	record->pid = scratch->sample.pid;
	record->script_id = (__s32)read_u32(script, v8->v8.script_id + 4);
	record->shared = v8->shared - 1;
	record->identity = v8->identity;
	record->script = script;
	record->start = -1;
	record->end = -1;
	record->source_length = 0;
	record->reserved = 0;
	v8_read_word(v8->shared, v8->v8.shared_name, &name);
	v8_read_string(slot, name, 0);
	if (read_type(name) == v8->v8.scope_type)
		read_scope(v8, slot, name);
	v8_read_word(script, PKBPF_V8_SCRIPT_NAME, &path);
	v8_read_string(slot, path, 1);
	if (v8_read_word(script, PKBPF_V8_SCRIPT_SOURCE, &source) && v8_is_object(source))
		record->source_length = read_u32(source, PKBPF_V8_STRING_LENGTH);
	return FILL_FUNCTION;
}

/* The frame that was left is one of V8's, and so are stubs inside of it. */
static __always_inline void confirm_frames(struct unwind_scratch *unwind)
{
	unwind->verified += 1 + unwind->stubs;
	unwind->stubs = 0;
}

__attribute__((noinline)) int v8_send_function(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct v8_scratch *v8 = v8_scratch_get(slot);
	struct v8_function_set *set;
	enum v8_function function = V8_NO_FUNCTION;
	enum fill_result result;
	__u32 index;

	if (!scratch || !v8)
		return V8_NO_FUNCTION;
	result = fill_record(v8, slot, scratch);
	if (result == FILL_UNREADABLE)
		return V8_NO_FUNCTION;
	if (result == FILL_BUILTIN) {
		function = V8_BUILTIN;
		confirm_frames(&scratch->unwind);
	} else if (result == FILL_FUNCTION) {
		function = V8_KNOWN_FUNCTION;
		/* Wakes the reader at once: V8 may move the function before its lines are read. */
		if (bpf_ringbuf_output(&sample_ring, &v8->record, sizeof(v8->record),
				       BPF_RB_FORCE_WAKEUP)) {
			counter_add(PKBPF_COUNTER_V8_FUNCTION_LOST, 1);
			return V8_NO_FUNCTION;
		}
		counter_add(PKBPF_COUNTER_V8_FUNCTIONS, 1);
	}
	index = v8->place >> (64 - V8_FUNCTION_SET_BITS);
	set = bpf_map_lookup_elem(&v8_functions, &index);
	if (set) {
		if (set->first >> 32 != v8->entry >> 32)
			set->second = set->first;
		set->first = v8->entry | function;
	}
	return function;
}

/* Identities repeat between isolates; each isolate stays on its thread. */
static __always_inline __u64 thread_identity(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, start_time) ^ bpf_get_current_pid_tgid();
}

/* Has a record of this identity at this address been sent? */
static __always_inline int look_up(struct v8_scratch *v8)
{
	__u64 place = mix(mix(1, thread_identity()), v8->shared), entry;
	__u32 index = place >> (64 - V8_FUNCTION_SET_BITS);
	struct v8_function_set *set = bpf_map_lookup_elem(&v8_functions, &index);

	if (!set)
		return V8_NO_FUNCTION;
	/* The index is made of the upper bits. */
	entry = place << 32 | ((__u32)(mix(place, v8->identity) >> 32) & ~V8_FUNCTION_MASK);
	v8->place = place;
	v8->entry = entry;
	if ((set->first & ~(__u64)V8_FUNCTION_MASK) == entry)
		return set->first & V8_FUNCTION_MASK;
	/* Of two entries for a place the first one is the newer. */
	if (set->first >> 32 != entry >> 32 && (set->second & ~(__u64)V8_FUNCTION_MASK) == entry)
		return set->second & V8_FUNCTION_MASK;
	return V8_NEW_FUNCTION;
}

/* An identity that survives moves; 0: unreadable. */
static __always_inline __u64 read_identity(const struct pkbpf_v8_process *v8, __u64 shared)
{
	__u64 ids, script, id;

	if (!v8_read_word(shared, v8->shared_literal, &ids))
		return 0;
	if (v8->has_unique)
		return ids >> 32;
	if (!v8_read_word(shared, v8->shared_script, &script) ||
	    !v8_read_word(script, v8->script_id, &id))
		return 0;
	return pkbpf_v8_identity(id >> 32, (__u32)ids);
}

/* The offset of the bytecode that an interpreted function is at. None in a leaf (the slot may be
 * stale) and in compiled code (other slots). */
static __always_inline __u32 read_bytecode_offset(const struct unwind_scratch *unwind)
{
	__u64 value = 0;

	if (unwind->state.mapping_flags & PKBPF_MAPPING_ANONYMOUS ||
	    (unwind->state.depth == 1 && unwind->first_flags & PKBPF_UNWIND_EXACT) ||
	    bpf_probe_read_user(&value, sizeof(value),
				(void *)(unwind->callee_fp + PKBPF_V8_BYTECODE_AT)) ||
	    (__u32)value)
		return PKBPF_V8_NO_OFFSET;
	value = (value >> 32) + 1 - unwind->v8.first_bytecode;
	return value < PKBPF_V8_NO_OFFSET ? value : PKBPF_V8_NO_OFFSET;
}

__attribute__((noinline)) int v8_find_function(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct v8_scratch *v8 = v8_scratch_get(slot);
	struct unwind_scratch *unwind;
	__u64 words[2], context;
	int function;

	if (!scratch || !v8)
		return V8_NO_FUNCTION;
	unwind = &scratch->unwind;
	if (bpf_probe_read_user(words, sizeof(words),
				(void *)(unwind->callee_fp + PKBPF_V8_FUNCTION_AT)))
		return V8_NO_FUNCTION;
	context = words[1];
	/* A stub's frame has its type there. Innermost ones are confirmed by the function behind.
	 */
	if (context && !(context & 1) && context < 2 * PKBPF_V8_FRAME_TYPES) {
		if (unwind->verified)
			unwind->verified++;
		else
			unwind->stubs++;
	}
	v8->v8 = unwind->v8;
	if (!(context & 1))
		return V8_NO_FUNCTION;
	/* V8 moves functions: the same stack may stand for other ones later. */
	unwind->log_count = UNWIND_LOG_WORDS + 1;
	if (!v8_read_word(words[0], v8->v8.function_shared, &v8->shared))
		return V8_NO_FUNCTION;
	v8->identity = (v8->shared & 7) == 1 ? read_identity(&v8->v8, v8->shared) : 0;
	if (v8->identity)
		function = look_up(v8);
	else /* functions of V8 itself have no number in a script */
		function =
			read_type(v8->shared) == v8->v8.shared_type ? V8_BUILTIN : V8_NO_FUNCTION;
	if (function == V8_BUILTIN)
		confirm_frames(unwind);
	return function;
}

__attribute__((noinline)) int v8_push_function(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct v8_scratch *v8 = v8_scratch_get(slot);
	struct unwind_scratch *unwind;
	__u32 index, offset;

	if (!scratch || !v8)
		return 0;
	unwind = &scratch->unwind;
	offset = read_bytecode_offset(unwind);
	index = unwind->first_frame + unwind->state.depth;
	if (index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES - 1 ||
	    unwind->state.depth + 2 > PKBPF_MAX_USER_FRAMES)
		return 0;
	scratch->ips[index] = pkbpf_v8_first_word(v8->shared - 1, offset);
	scratch->ips[index + 1] = pkbpf_v8_second_word(v8->identity, offset);
	unwind->state.depth += 2;
	confirm_frames(unwind);
	/* They are no frames. */
	if (unwind->limit + 2 <= PKBPF_MAX_USER_FRAMES)
		unwind->limit += 2;
	return 0;
}
