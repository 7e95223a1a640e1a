// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells Ruby's methods and blocks apart, and sends the names of new ones. */
#include "python.bpf.h"

int ruby_read_string(__u32 slot, __u64 address, __u32 which);
int ruby_find_variable(__u32 slot, __u64 owner, __u64 id);
int ruby_find_name(__u32 slot, __u64 id);
int ruby_read_method(__u32 slot);
int ruby_send_long(__u32 slot);

#define CODE_MASK ((1ULL << PKBPF_PYTHON_INSTRUCTION_SHIFT) - 1)
/* Variables of a class that are looked at: its name is the first one it gets. */
#define MOST_VARIABLES 24

/* Of the size of a long index. */
#define LONG_INDEX_MASK 16383
/* Of a method entry, and of a definition: all that is used of them. */
#define METHOD_WORDS 5

enum { STRING_OWNER, STRING_LABEL, STRING_PATH };

/* The mask is 64-bit, and stays: the verifier of 5.15 loses the bounds of a register whose lower
 * half is masked after a shift of the word. */
static __always_inline __u64 word_index(__u64 offset, __u64 mask)
{
	offset /= 8;
	barrier_var(offset);
	return offset & mask;
}

static __always_inline __u64 method_word(const struct python_scratch *python, __u32 offset)
{
	return python->ruby.method_words[word_index(offset, 7)];
}

static __always_inline void read_string(__u64 address, bool wants_end,
					struct pkbpf_ruby_string *string)
{
	__u64 flags = 0, length, data = address + PKBPF_RUBY_STRING_TEXT, size;
	__u32 kept;

	string->address = address;
	string->length = 0;
	string->bytes = 0;
	string->is_read = 0;
	string->reserved = 0;
	if (!address || address & 7 || !python_read_word(address, &flags) ||
	    PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_STRING)
		return;
	length = PKBPF_RUBY_STRING_LENGTH(flags);
	if (flags & PKBPF_RUBY_STRING_IS_FAR &&
	    (!python_read_word(address + PKBPF_RUBY_FAR_LENGTH, &length) ||
	     !python_read_word(address + PKBPF_RUBY_STRING_FAR, &data)))
		return;
	if (length > 1U << 20)
		return;
	kept = length;
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
	string->length = length;
	string->bytes = kept;
	string->is_read = 1;
}

/* Reads a string of the record. A function of its own, that the verifier follows once. */
__attribute__((noinline)) int ruby_read_string(__u32 slot, __u64 address, __u32 which)
{
	struct python_scratch *python = python_scratch_get(slot);

	if (!python)
		return 0;
	if (which == STRING_PATH)
		read_string(address, true, &python->ruby_record.path);
	else
		read_string(address, false,
			    which == STRING_LABEL ? &python->ruby_record.label
						  : &python->ruby_record.owner);
	return 0;
}

/* Sets ruby.variable to a variable of a class; 0: it has none of this name. */
__attribute__((noinline)) int ruby_find_variable(__u32 slot, __u64 owner, __u64 id)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 table, entry[PKBPF_RUBY_ENTRY_WORDS], at;

	if (!layout || !python_read_word(owner + layout->class_extension, &table) ||
	    !python_read_word(table + layout->extension_variables, &table) || !table ||
	    bpf_probe_read_user(python->ruby.table, sizeof(python->ruby.table),
				(void *)(table + PKBPF_RUBY_TABLE_START)))
		return 0;
	at = python->ruby.table[0];
	for (int i = 0; i < MOST_VARIABLES; i++, at++) {
		if (at >= python->ruby.table[1] ||
		    bpf_probe_read_user(entry, sizeof(entry),
					(void *)(python->ruby.table[2] + at * sizeof(entry))))
			return 0;
		/* The hash of one that was deleted is all ones. */
		if (entry[1] == id && ~entry[0]) {
			python->ruby.variable = entry[2];
			return 1;
		}
	}
	return 0;
}

static __always_inline bool is_namespace(__u64 object)
{
	__u64 flags;
	__u32 type;

	if (!object || object & 7 || !python_read_word(object, &flags))
		return false;
	type = PKBPF_RUBY_TYPE(flags);
	return type == PKBPF_RUBY_CLASS || type == PKBPF_RUBY_MODULE;
}

/* Reads the name of the method's class into the record. */
__attribute__((noinline)) int ruby_read_owner(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 owner, flags;

	if (!layout)
		return 0;
	python->ruby_record.is_singleton = 0;
	python->ruby_record.owner.is_read = 0;
	python->ruby_record.owner.bytes = 0;
	owner = method_word(python, layout->method_owner);
	if (!is_namespace(owner) || !python_read_word(owner, &flags))
		return 0;
	if (PKBPF_RUBY_TYPE(flags) == PKBPF_RUBY_CLASS && flags & PKBPF_RUBY_IS_SINGLETON) {
		if (!ruby_find_variable(slot, owner, python->process.ruby.attached_id))
			return 0;
		owner = python->ruby.variable;
		if (!is_namespace(owner))
			return 0;
		python->ruby_record.is_singleton = 1;
	}
	if (ruby_find_variable(slot, owner, python->process.ruby.path_id))
		ruby_read_string(slot, python->ruby.variable, STRING_OWNER);
	return 0;
}

static __always_inline bool read_element(__u64 array, __u64 index, __u64 *value)
{
	__u64 flags, data = array + PKBPF_RUBY_ARRAY_NEAR;

	if (!array || array & 7 || !python_read_word(array, &flags) ||
	    PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_ARRAY)
		return false;
	if (!(flags & PKBPF_RUBY_ARRAY_IS_NEAR) &&
	    !python_read_word(array + PKBPF_RUBY_ARRAY_FAR, &data))
		return false;
	return python_read_word(data + 8 * index, value);
}

/* Sets ruby.name to the string of a method's name; 0: it was not found. */
__attribute__((noinline)) int ruby_find_name(__u32 slot, __u64 id)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 number = id, pages, page;

	if (!layout)
		return 0;
	if (id > PKBPF_RUBY_LAST_OPERATOR)
		number = id >> PKBPF_RUBY_SCOPE_BITS;
	return python_read_word(python->process.ruby.symbols + layout->symbols_ids, &pages) &&
	       read_element(pages, number / PKBPF_RUBY_NAMES_A_PAGE, &page) &&
	       read_element(page, number % PKBPF_RUBY_NAMES_A_PAGE * PKBPF_RUBY_NAME_WORDS,
			    &python->ruby.name);
}

/* Reads the method entry of the frame, its definition, and the first words of its class; 0: it is
 * not readable. */
__attribute__((noinline)) int ruby_read_method(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;

	if (!layout || !python->ruby.method ||
	    bpf_probe_read_user(python->ruby.method_words, 8 * METHOD_WORDS,
				(void *)python->ruby.method) ||
	    bpf_probe_read_user(python->ruby.definition, 8 * METHOD_WORDS,
				(void *)method_word(python, layout->method_definition)))
		return 0;
	return !bpf_probe_read_user(python->ruby.owner, sizeof(python->ruby.owner),
				    (void *)method_word(python, layout->method_owner));
}

/* Another class may take the address of one that died. */
static __always_inline __u64 hash_owner(const struct python_scratch *python,
					const struct pkbpf_ruby_layout *layout, __u64 hash)
{
	hash = python_mix(hash, method_word(python, layout->method_owner));
	hash = python_mix(hash, python->ruby.owner[1]);
	return python_mix(hash, python->ruby.owner[3]);
}

static __always_inline __u64 body_word(const struct python_scratch *python, __u32 offset)
{
	return python->ruby.body_words[word_index(offset, 31)];
}

static __always_inline __u32 body_half(const struct python_scratch *python, __u32 offset)
{
	return body_word(python, offset) >> (offset & 4) * 8;
}

/* Sizes are passed on in lower halves, of which the verifier of 5.15 knows what masks say. */
static __always_inline __u64 masked(__u64 value, __u64 mask)
{
	barrier_var(value);
	return value & mask;
}

/* Reads the lines of a short piece of code behind the record; 0: it is long, or has none. */
static __always_inline __u64 read_lines(struct python_scratch *python,
					const struct pkbpf_ruby_layout *layout)
{
	__u64 index = body_word(python, layout->body_index), count, size;
	struct pkbpf_event_ruby_code *record = &python->ruby_record;

	record->index_bytes = 0;
	record->line_bytes = 0;
	count = body_half(python, layout->body_line_count);
	size = pkbpf_ruby_index_bytes(record->positions);
	if (!index || body_word(python, layout->body_positions) || !count ||
	    count > PKBPF_RUBY_SHORT_ENTRIES)
		return 0;
	barrier_var(size);
	if (size > PKBPF_RUBY_SHORT_INDEX ||
	    bpf_probe_read_user(python->ruby_index, size, (void *)index))
		return 0;
	record->index_bytes = PKBPF_RUBY_SHORT_INDEX;
	size = masked(count, PKBPF_RUBY_SHORT_ENTRIES) * PKBPF_RUBY_ENTRY_BYTES;
	if (bpf_probe_read_user(python->ruby_lines, size,
				(void *)body_word(python, layout->body_lines))) {
		record->index_bytes = 0;
		return 0;
	}
	record->line_bytes = size;
	return PKBPF_RUBY_SHORT_INDEX + size;
}

static __always_inline __u64 padded(__u64 size)
{
	return (size + 7) & ~7ULL;
}

/* Sends the record with many lines, for which the memory of raw stacks is borrowed; 1: sent, 0:
 * another program uses that memory. */
__attribute__((noinline)) int ruby_send_long(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u32 cpu = bpf_get_smp_processor_id();
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	struct pkbpf_event_ruby_code *record;
	__u64 size, lines, count;
	int sent = 0;

	if (!layout || !raw || raw->busy)
		return 0;
	raw->busy = 1;
	record = (void *)raw->record;
	__builtin_memcpy(record, &python->ruby_record, sizeof(*record));
	size = pkbpf_ruby_index_bytes(record->positions);
	count = body_half(python, layout->body_line_count);
	lines = masked(count, PKBPF_RUBY_LONG_ENTRIES) * PKBPF_RUBY_ENTRY_BYTES;
	if (size && size <= PKBPF_RUBY_LONG_INDEX && count && count <= PKBPF_RUBY_LONG_ENTRIES &&
	    !bpf_probe_read_user(record->lines, masked(size, LONG_INDEX_MASK),
				 (void *)body_word(python, layout->body_index)) &&
	    !bpf_probe_read_user(record->lines + PKBPF_RUBY_LONG_INDEX, lines,
				 (void *)body_word(python, layout->body_lines))) {
		record->index_bytes = PKBPF_RUBY_LONG_INDEX;
		record->line_bytes = lines;
		size = sizeof(*record) + padded(PKBPF_RUBY_LONG_INDEX + lines);
		record->header.size = size;
		barrier_var(size);
		if (size <= sizeof(*record) + PKBPF_RUBY_LONG_INDEX + PKBPF_RUBY_LONG_LINES)
			sent = !bpf_ringbuf_output(&sample_ring, record, size, BPF_RB_NO_WAKEUP);
	}
	raw->busy = 0;
	return sent;
}

/* The path of a file is alone, or the first of two. */
static __always_inline __u64 path_of(__u64 object)
{
	__u64 path;

	return read_element(object, 0, &path) ? path : object;
}

/* Sets the code of what the hash identifies; 1: it was not sent before. */
static __always_inline int identify(struct python_scratch *python, __u64 hash)
{
	__u64 code = (hash & CODE_MASK) << 4, place, entry;
	struct python_code_set *set;
	__u32 index;

	if (code <= PKBPF_RUBY_UNKNOWN_CODE)
		code = 2 * PKBPF_RUBY_UNKNOWN_CODE;
	place = python_mix(python->identity, code);
	index = place >> (64 - PYTHON_CODE_SET_BITS);
	entry = python_mix(place, hash);
	set = bpf_map_lookup_elem(&python_codes, &index);
	if (!set)
		return 0;
	python->ruby.key = code;
	python->ruby.hash = hash;
	return set->first != entry && set->second != entry;
}

/* Remembers that it was sent. */
static __always_inline void note_sent(const struct python_scratch *python)
{
	__u64 place = python_mix(python->identity, python->ruby.key);
	__u32 index = place >> (64 - PYTHON_CODE_SET_BITS);
	struct python_code_set *set = bpf_map_lookup_elem(&python_codes, &index);

	counter_add(PKBPF_COUNTER_PYTHON_CODES, 1);
	if (!set)
		return;
	set->second = set->first;
	set->first = python_mix(place, python->ruby.hash);
}

/* Sends the record of what the frame runs; 1: sent. */
__attribute__((noinline)) int ruby_send_code(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	struct pkbpf_event_ruby_code *record;
	__u64 label, path = 0, size = 0;

	if (!layout)
		return 0;
	record = &python->ruby_record;
	record->kind = python->ruby.kind;
	record->minor = layout->minor;
	record->reserved = 0;
	record->index_bytes = 0;
	record->line_bytes = 0;
	record->positions = 0;
	record->first_line = 0;
	if (record->kind != PKBPF_RUBY_BY_C) {
		record->positions = python->ruby.body_words[0] >> 32;
		record->first_line = body_word(python, layout->body_first_line) >> 1;
		path = path_of(body_word(python, layout->body_path));
		size = read_lines(python, layout);
	}
	label = record->kind == PKBPF_RUBY_PLAIN || record->kind == PKBPF_RUBY_IN_METHOD
			? body_word(python, layout->body_label)
			: python->ruby.name;
	if (record->kind == PKBPF_RUBY_PLAIN)
		record->owner.is_read = 0;
	ruby_read_string(slot, label, STRING_LABEL);
	ruby_read_string(slot, path, STRING_PATH);
	size = sizeof(*record) + padded(size);
	record->header.size = size;
	record->header.kind = PKBPF_EVENT_RUBY_CODE;
	record->header.flags = 0;
	/* Before the event that has the frame. */
	record->header.time_ns = python->time_ns - 1;
	record->pid = python->pid;
	record->code = python->ruby.key;
	if (record->kind != PKBPF_RUBY_BY_C && !record->index_bytes && ruby_send_long(slot)) {
		note_sent(python);
		return 1;
	}
	barrier_var(size);
	if (size > sizeof(*record) + PKBPF_RUBY_SHORT_INDEX + PKBPF_RUBY_SHORT_LINES ||
	    bpf_ringbuf_output(&sample_ring, record, size, BPF_RB_NO_WAKEUP)) {
		counter_add(PKBPF_COUNTER_PYTHON_CODE_LOST, 1);
		return 0;
	}
	note_sent(python);
	return 1;
}

/* A method in C. */
__attribute__((noinline)) int ruby_identify_method(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 id;

	if (!layout || !ruby_read_method(slot))
		return 0;
	id = python->ruby.definition[word_index(layout->definition_id, 7)];
	python->ruby.kind = PKBPF_RUBY_BY_C;
	if (!ruby_find_name(slot, id))
		return 0;
	return identify(python, hash_owner(python, layout, python_mix(3, id)));
}

static __always_inline __u64 hash_body(struct python_scratch *python,
				       const struct pkbpf_ruby_layout *layout)
{
	__u64 label = body_word(python, layout->body_label), hash;

	/* Code that took the place of other code may have all its pointers, but not its name. */
	if (bpf_probe_read_user(python->ruby.text, sizeof(python->ruby.text), (void *)label))
		return 0;
	hash = python_mix(python_mix(python->ruby.body, label), python->ruby.body_words[0]);
	hash = python_mix(hash, body_word(python, layout->body_path));
	hash = python_mix(hash, body_word(python, layout->body_first_line));
	hash = python_mix(hash, body_word(python, layout->body_lines));
	hash = python_mix(hash, python->ruby.body_words[1]);
	hash = python_mix(hash, python->ruby.text[2]);
	hash = python_mix(hash, python->ruby.text[3]);
	return hash ? hash : 1;
}

/* A piece of Ruby code: a method, a block, a file. */
__attribute__((noinline)) int ruby_identify_code(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 hash, id;
	__u32 type;

	if (!layout)
		return 0;
	hash = hash_body(python, layout);
	if (!hash)
		return 0;
	python->ruby.kind = PKBPF_RUBY_PLAIN;
	if (ruby_read_method(slot)) {
		type = PKBPF_RUBY_DEFINITION(python->ruby.definition[0]);
		id = python->ruby.definition[word_index(layout->definition_id, 7)];
		if (type == PKBPF_RUBY_DEFINED_BY_CODE)
			python->ruby.kind = PKBPF_RUBY_IN_METHOD;
		else if (python->ruby.flags & PKBPF_RUBY_IS_METHOD_OF_BLOCK &&
			 type == PKBPF_RUBY_DEFINED_BY_BLOCK && ruby_find_name(slot, id))
			python->ruby.kind = PKBPF_RUBY_BY_BLOCK;
		if (python->ruby.kind != PKBPF_RUBY_PLAIN)
			hash = hash_owner(python, layout,
					  python_mix(hash, python->ruby.kind ^ id << 8));
	}
	return identify(python, hash);
}
