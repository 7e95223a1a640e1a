// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells code objects apart, and sends the names of new ones. */
#include "python.bpf.h"

int python_read_string(__u32 slot, __u64 address, __u32 is_file);
int python_send_code(__u32 slot, __u64 code, __u64 fingerprint);
int python_send_long(__u32 slot);

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
			return python_mix(python_mix(1, version),
					  (__u32)(python->code_bytes[0] >>
						  (layout->code_first_line & 4) * 8));
		if (bpf_probe_read_user(python->code_bytes, PYTHON_CODE_BYTES, (void *)start))
			return 0;
	}
	python_read_word(code_field(python, layout, layout->code_name) + layout->string_hash,
			 &hash);
	hash = python_mix(hash,
			  (__u32)(python->code_bytes[0] >> (layout->code_first_line & 4) * 8));
	hash = python_mix(hash, code_field(python, layout, layout->code_file));
	hash = python_mix(hash, code_field(python, layout, layout->code_name));
	hash = python_mix(hash, code_field(python, layout, layout->code_lines));
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
	if (!address || !python_read_word(address + layout->string_length, &length) ||
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
	layout = python_layout_of(python);
	if (!layout)
		return 0;
	if (is_file)
		read_string(layout, address, true, &python->record.file);
	else
		read_string(layout, address, false, &python->record.name);
	return 0;
}

/* Reads a short line table behind the record and returns the bytes read. */
static __always_inline __u64 read_lines(struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u64 address)
{
	__u64 total = 0, size;

	python->record.line_address = address;
	python->record.line_size = 0;
	if (!address || !python_read_word(address + layout->bytes_size, &total))
		return 0;
	python->record.line_size = total;
	if (total > PKBPF_PYTHON_SHORT_LINE_BYTES)
		return 0;
	size = total;
	barrier_var(size);
	if (size > PKBPF_PYTHON_SHORT_LINE_BYTES ||
	    bpf_probe_read_user(python->lines, size, (void *)(address + layout->bytes_data)))
		return 0;
	return size;
}

static __always_inline __u64 padded(__u64 size)
{
	return (size + 7) & ~7ULL;
}

/* Sends the record with a long line table, for which the memory of raw stacks is borrowed; 1: sent,
 * 0: another program uses that memory. */
__attribute__((noinline)) int python_send_long(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	__u32 cpu = bpf_get_smp_processor_id();
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	struct pkbpf_event_python_code *record;
	struct pkbpf_python_layout *layout;
	int sent = 0;
	__u64 size;

	if (!python || !raw || raw->busy)
		return 0;
	layout = python_layout_of(python);
	if (!layout)
		return 0;
	raw->busy = 1;
	record = (void *)raw->record;
	__builtin_memcpy(record, &python->record, sizeof(*record));
	size = record->line_size;
	barrier_var(size);
	if (size <= PKBPF_PYTHON_LINE_BYTES &&
	    !bpf_probe_read_user(record + 1, size,
				 (void *)(record->line_address + layout->bytes_data))) {
		record->line_bytes = size;
		size = sizeof(*record) + padded(size);
		record->header.size = size;
		barrier_var(size);
		if (size <= sizeof(*record) + PKBPF_PYTHON_LINE_BYTES)
			sent = !bpf_ringbuf_output(&sample_ring, record, size, BPF_RB_NO_WAKEUP);
	}
	raw->busy = 0;
	return sent;
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
	layout = python_layout_of(python);
	if (!layout)
		return 0;
	record = &python->record;
	record->first_line = 0;
	bpf_probe_read_user(&record->first_line, sizeof(record->first_line),
			    (void *)(code + layout->code_first_line));
	python_read_word(code + (layout->code_qualified_name ? layout->code_qualified_name
							     : layout->code_name),
			 &name);
	python_read_word(code + layout->code_file, &file);
	python_read_word(code + layout->code_lines, &lines);
	python_read_string(slot, name, 0);
	python_read_string(slot, file, 1);
	size = read_lines(python, layout, lines);
	record->line_bytes = size;
	size = sizeof(*record) + padded(size);
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
	if (record->line_size > PKBPF_PYTHON_SHORT_LINE_BYTES && python_send_long(slot)) {
		counter_add(PKBPF_COUNTER_PYTHON_CODES, 1);
		return 1;
	}
	/* Without a long table, the lines are unknown. */
	barrier_var(size);
	if (size > sizeof(*record) + PKBPF_PYTHON_SHORT_LINE_BYTES ||
	    bpf_ringbuf_output(&sample_ring, record, size, BPF_RB_NO_WAKEUP)) {
		counter_add(PKBPF_COUNTER_PYTHON_CODE_LOST, 1);
		return 0;
	}
	counter_add(PKBPF_COUNTER_PYTHON_CODES, 1);
	return 1;
}

/* Names a code object, unless it was named as what is at its address now. Returns the hash of what
 * it is; 0: user space does not know it. */
static __always_inline __u64 name_code(struct python_scratch *python,
				       const struct pkbpf_python_layout *layout, __u32 slot,
				       __u64 code)
{
	__u64 fingerprint = read_fingerprint(python, layout, code), place, entry;
	struct python_code_set *set;
	__u32 index;

	if (!fingerprint) {
		counter_add(PKBPF_COUNTER_PYTHON_UNREADABLE, 1);
		return 0;
	}
	place = python_mix(python->identity, code);
	index = place >> (64 - PYTHON_CODE_SET_BITS);
	entry = place << 32 | (__u32)(fingerprint >> 16);
	set = bpf_map_lookup_elem(&python_codes, &index);
	if (!set)
		return 0;
	fingerprint = python_mix(place, fingerprint);
	if (set->first == entry)
		return fingerprint;
	/* Of two entries for a place the first one is the newer. */
	if (set->first >> 32 != entry >> 32 && set->second == entry)
		return fingerprint;
	if (!python_send_code(slot, code, fingerprint))
		return 0;
	if (set->first >> 32 != entry >> 32 && set->second >> 32 != entry >> 32)
		set->second = set->first;
	if (set->first >> 32 != entry >> 32 && set->second >> 32 == entry >> 32)
		set->second = entry;
	else
		set->first = entry;
	return fingerprint;
}

__attribute__((noinline)) int python_add_code(__u32 slot, __u64 code, __u32 instruction)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 word, key;
	__u32 at;

	if (!python)
		return 1;
	layout = python_layout_of(python);
	at = python->count;
	if (!layout || at >= PYTHON_MAX_WORDS - 1) {
		counter_add(PKBPF_COUNTER_PYTHON_TOO_DEEP, 1);
		return 1;
	}
	key = name_code(python, layout, slot, code);
	/* Another function may have been named at this address: no code object is at 0. */
	word = pkbpf_python_word(key ? code : 0, key ? instruction : PKBPF_PYTHON_NO_INSTRUCTION);
	python->names = python_mix(python->names, key);
	python->hash = python_mix(python_mix(python->hash, key), word);
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] = word;
	python->count = at + 1;
	return 0;
}
