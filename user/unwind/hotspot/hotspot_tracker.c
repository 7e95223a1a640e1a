// SPDX-License-Identifier: BSD-2-Clause
/* Follows the code heaps of JVMs, and makes rows of what is in them. */
#include "unwind/hotspot/hotspot_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/process_memory.h"
#include "unwind/hotspot/hotspot_table.h"

#define MAX_STUBS 1024
/* Bytes beyond the committed part of a heap that a table covers, so that it seldom gets other
 * bounds: heaps grow by 64 KiB. */
#define SPARE_BYTES (1ULL << 20)
#define ROUND_BYTES (2ULL << 20)
/* A JVM whose description cannot be read yet is just starting. */
#define TRY_AGAIN_NS (100 * NS_PER_MS)
#define TRIES	     100
#define FEW_TRIES    20
/* A pause of this many times the CPU time follows. */
#define REST_PER_WORK 50
/* Work of one poll and of one process in it, after which others get their turn. */
#define POLL_NS	 (40 * NS_PER_MS)
#define SLICE_NS (20 * NS_PER_MS)
/* Rows that a stack needs are made at once, for a tenth of the time, and so much at a time. */
#define STACK_PART 10
#define STACK_NS   (200 * NS_PER_MS)
/* Stacks of a process that has ended arrive so much later. */
#define ENDED_KEPT_NS (3 * NS_PER_SECOND)
/* Minimum interval of looks for the sake of one stack. */
#define LOOK_FOR_STACK_NS (10 * NS_PER_MS)

struct blob_rows {
	size_t count;
	struct hotspot_row rows[];
};

enum jvm_state { JVM_STARTING, JVM_FOLLOWED, JVM_UNKNOWN, JVM_ENDED };

struct jvm {
	struct hotspot_tracker *tracker;
	uint32_t pid;
	enum jvm_state state;
	uint64_t serial, born_ns, bias, next_ns, looked_ns, changed_ns, generation, first_left_ns;
	unsigned int tries;
	struct hotspot_image image;
	struct hotspot_memory memory;
	struct hotspot_process *process; /* FOLLOWED */
	struct rule_set *rules;
	uint64_t row_count;
	size_t waiting; /* blobs without rows */
	size_t next_waiting;
	char path[128];
};

struct hotspot_tracker {
	const struct log *log;
	struct jvm *jvms[HOTSPOT_TRACKER_PROCESSES];
	size_t count, next_polled;
	struct hotspot_rows *work;
	uint64_t rest_until_ns, last_serial;
	uint64_t stack_ns, stack_filled_ns; /* CPU time left for stacks, and when it was counted */
	bool warned_full;
	/* of the blob in progress */
	ARRAY_OF(struct hotspot_row) rows;
	struct jvm *jvm;
	uint8_t *bytes;
	/* of the process in progress */
	struct hotspot_codelet *codelets;
	uint64_t stubs[MAX_STUBS];
};

static uint64_t cpu_now_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

struct hotspot_tracker *hotspot_tracker_new(const struct log *log)
{
	struct hotspot_tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->log = log;
	tracker->work = hotspot_rows_new();
	if (!tracker->work) {
		free(tracker);
		return NULL;
	}
	return tracker;
}

static void drop_process(struct jvm *jvm)
{
	size_t count = jvm->process ? hotspot_process_blob_count(jvm->process) : 0;

	for (size_t i = 0; i < count; i++)
		free(hotspot_process_blob(jvm->process, i)->user);
	hotspot_process_free(jvm->process);
	jvm->process = NULL;
}

static void free_jvm(struct jvm *jvm)
{
	drop_process(jvm);
	rule_set_free(jvm->rules);
	free(jvm);
}

void hotspot_tracker_free(struct hotspot_tracker *tracker)
{
	if (!tracker)
		return;
	for (size_t i = 0; i < tracker->count; i++)
		free_jvm(tracker->jvms[i]);
	hotspot_rows_free(tracker->work);
	array_free(&tracker->rows);
	free(tracker->bytes);
	free(tracker->codelets);
	free(tracker);
}

static struct jvm *find_jvm(const struct hotspot_tracker *tracker, uint32_t pid)
{
	for (size_t i = 0; i < tracker->count; i++)
		if (tracker->jvms[i]->pid == pid)
			return tracker->jvms[i];
	return NULL;
}

void hotspot_tracker_forget(struct hotspot_tracker *tracker, uint32_t pid)
{
	for (size_t i = 0; i < tracker->count; i++) {
		if (tracker->jvms[i]->pid != pid)
			continue;
		free_jvm(tracker->jvms[i]);
		tracker->jvms[i] = tracker->jvms[--tracker->count];
		return;
	}
}

/* Of those that ended before `now_ns` - ENDED_KEPT_NS. */
static void forget_ended(struct hotspot_tracker *tracker, uint64_t now_ns)
{
	for (size_t i = tracker->count; i-- > 0;)
		if (tracker->jvms[i]->state == JVM_ENDED && now_ns >= tracker->jvms[i]->next_ns)
			hotspot_tracker_forget(tracker, tracker->jvms[i]->pid);
}

void hotspot_tracker_follow(struct hotspot_tracker *tracker, uint32_t pid, uint64_t born_ns,
			    const struct hotspot_image *image, uint64_t bias, const char *path)
{
	struct jvm *jvm = find_jvm(tracker, pid);

	if (jvm && jvm->born_ns == born_ns && jvm->bias == bias)
		return;
	hotspot_tracker_forget(tracker, pid);
	if (tracker->count == HOTSPOT_TRACKER_PROCESSES)
		forget_ended(tracker, UINT64_MAX);
	if (tracker->count == HOTSPOT_TRACKER_PROCESSES) {
		if (!tracker->warned_full)
			log_warning(tracker->log,
				    "code of JVM %u and later ones is not listed: limit of %d JVMs "
				    "at a time; choose targets with --pid",
				    pid, HOTSPOT_TRACKER_PROCESSES);
		tracker->warned_full = true;
		return;
	}
	jvm = calloc(1, sizeof(*jvm));
	if (!jvm)
		return;
	jvm->tracker = tracker;
	jvm->pid = pid;
	jvm->serial = ++tracker->last_serial;
	jvm->born_ns = born_ns;
	jvm->bias = bias;
	jvm->image = *image;
	jvm->first_left_ns = HOTSPOT_TRACKER_FIRST_NS;
	jvm->memory = (struct hotspot_memory){process_memory_read, &jvm->pid};
	escape_terminal(jvm->path, sizeof(jvm->path), path);
	tracker->jvms[tracker->count++] = jvm;
}

/* ---- rows of a blob ---- */

static void take_row(void *context, uint32_t offset, const struct pkbpf_unwind_rule *rule)
{
	struct hotspot_tracker *tracker = context;
	struct hotspot_row *row =
		tracker->rows.count ? &tracker->rows.items[tracker->rows.count - 1] : NULL;

	if (!row || row->offset != offset)
		row = array_add(&tracker->rows);
	if (row)
		*row = (struct hotspot_row){offset, rule_set_add(tracker->jvm->rules, rule)};
}

static void read_hints(struct jvm *jvm, const struct hotspot_blob *blob,
		       struct hotspot_rows_hints *hints)
{
	struct hotspot_tracker *tracker = jvm->tracker;

	*hints =
		(struct hotspot_rows_hints){.codelets = tracker->codelets, .stubs = tracker->stubs};
	if (blob->kind == HOTSPOT_INTERPRETER) {
		if (!tracker->codelets)
			tracker->codelets =
				calloc(HOTSPOT_MAX_CODELETS, sizeof(*tracker->codelets));
		hints->codelets = tracker->codelets;
		hints->codelet_count =
			tracker->codelets
				? hotspot_process_codelets(jvm->process, tracker->codelets,
							   HOTSPOT_MAX_CODELETS)
				: 0;
	} else if (blob->kind == HOTSPOT_STUB_ROUTINES) {
		hints->stub_count = hotspot_process_stubs(jvm->process, tracker->stubs, MAX_STUBS);
	}
}

static void drop_rows(struct jvm *jvm, struct hotspot_blob *blob)
{
	const struct blob_rows *rows = blob->user;

	if (rows)
		jvm->row_count -= rows->count;
	else
		jvm->waiting--;
	free(blob->user);
	blob->user = NULL;
}

/* Makes the rows of a blob, whose code is at hand. */
static void make_rows(struct jvm *jvm, struct hotspot_blob *blob)
{
	struct hotspot_tracker *tracker = jvm->tracker;
	struct hotspot_rows_hints hints;
	struct blob_rows *rows;

	read_hints(jvm, blob, &hints);
	tracker->jvm = jvm;
	tracker->rows.count = 0;
	if (jvm->row_count >= HOTSPOT_TRACKER_MOST_ROWS ||
	    hotspot_rows_make(tracker->work, blob, &hints, take_row, tracker)) {
		tracker->rows.count = 0;
		if (array_reserve(&tracker->rows, 1))
			tracker->rows.items[tracker->rows.count++] =
				(struct hotspot_row){0, RULE_ID_NO_ROOM};
	}
	rows = malloc(sizeof(*rows) + tracker->rows.count * sizeof(rows->rows[0]));
	if (!rows)
		return;
	rows->count = tracker->rows.count;
	memcpy(rows->rows, tracker->rows.items, rows->count * sizeof(rows->rows[0]));
	blob->user = rows;
	jvm->waiting--;
	jvm->row_count += rows->count;
	jvm->generation++;
	jvm->changed_ns = clock_now_ns();
}

/* The same when it was listed before. */
static void make_rows_later(struct jvm *jvm, struct hotspot_blob *blob)
{
	struct hotspot_tracker *tracker = jvm->tracker;
	uint64_t size = blob->code_end - blob->code_begin;

	if (!tracker->bytes)
		tracker->bytes = malloc(HOTSPOT_MAX_CODE_BYTES);
	if (!tracker->bytes || size > HOTSPOT_MAX_CODE_BYTES ||
	    hotspot_read(&jvm->memory, blob->code_begin, tracker->bytes, size))
		blob->code = NULL;
	else
		blob->code = tracker->bytes;
	make_rows(jvm, blob);
	blob->code = NULL;
}

static void on_new_blob(void *context, struct hotspot_blob *blob)
{
	struct jvm *jvm = context;

	blob->user = NULL;
	jvm->waiting++;
	jvm->next_waiting = 0;
}

static void on_gone_blob(void *context, struct hotspot_blob *blob)
{
	struct jvm *jvm = context;

	drop_rows(jvm, blob);
	jvm->next_waiting = 0;
	jvm->generation++;
	jvm->changed_ns = clock_now_ns();
}

/* ---- looks ---- */

static void say_unknown(struct hotspot_tracker *tracker, const struct jvm *jvm,
			const struct hotspot_layout *layout)
{
	char version[64], missing[96];

	for (size_t i = 0; i < tracker->count; i++)
		if (tracker->jvms[i] != jvm && tracker->jvms[i]->state == JVM_UNKNOWN &&
		    !strcmp(tracker->jvms[i]->path, jvm->path))
			return;
	log_warning(tracker->log,
		    "%s: this version of Java (%s) is not known: %s not found; stacks of its code "
		    "are complete with -XX:+PreserveFramePointer only",
		    jvm->path, escape_terminal(version, sizeof(version), layout->version),
		    escape_terminal(missing, sizeof(missing), layout->missing));
}

static void warn_unread(const struct jvm *jvm, const struct hotspot_layout *layout, int err)
{
	if (err == -ESRCH)
		return;
	if (err == -ENOTSUP)
		say_unknown(jvm->tracker, jvm, layout);
	else
		log_warning(jvm->tracker->log,
			    "the JVM's description of its code cannot be read in process %u: %s; "
			    "%s",
			    jvm->pid, strerror(-err),
			    err == -EPERM ? "run as root, or with CAP_SYS_PTRACE"
					  : "its stacks need -XX:+PreserveFramePointer");
}

static void start(struct jvm *jvm, uint64_t now_ns)
{
	struct hotspot_layout layout = {0};
	int err = hotspot_layout_read(&jvm->memory, &jvm->image, jvm->bias, &layout);

	jvm->next_ns = now_ns + TRY_AGAIN_NS;
	/* Its file may be in the middle of being loaded, which looks like another version. */
	if ((err || !layout.java) && ++jvm->tries < (err == -ENOTSUP ? FEW_TRIES : TRIES))
		return;
	if (err) {
		jvm->state = JVM_UNKNOWN;
		warn_unread(jvm, &layout, err);
		return;
	}
	jvm->rules = rule_set_new();
	jvm->process = jvm->rules ? hotspot_process_new(&layout, jvm->bias, &jvm->memory) : NULL;
	jvm->state = jvm->process ? JVM_FOLLOWED : JVM_UNKNOWN;
	jvm->next_ns = now_ns;
}

/* Returns false when the process has ended. */
static bool look(struct jvm *jvm, uint64_t now_ns)
{
	struct hotspot_process_ops ops = {on_new_blob, on_gone_blob, jvm};
	int err;

	jvm->next_ns = now_ns + HOTSPOT_TRACKER_LOOK_NS;
	jvm->looked_ns = now_ns;
	err = hotspot_process_look(jvm->process, &ops, now_ns);
	/* The library without a JVM that runs: other code of the process is not Java's. */
	if (err == -EBADMSG && !hotspot_process_heap_count(jvm->process) && ++jvm->tries >= TRIES)
		jvm->state = JVM_UNKNOWN;
	return err != -ESRCH;
}

static void work_off(struct jvm *jvm, uint64_t budget_ns)
{
	uint64_t begin_ns = cpu_now_ns();
	size_t count = hotspot_process_blob_count(jvm->process);

	for (; jvm->waiting && jvm->next_waiting < count; jvm->next_waiting++) {
		struct hotspot_blob *blob = hotspot_process_blob(jvm->process, jvm->next_waiting);

		if (blob->user)
			continue;
		if (cpu_now_ns() - begin_ns >= budget_ns)
			return;
		make_rows_later(jvm, blob);
	}
}

/* Its rows stay for stacks that are on their way. */
static void end(struct jvm *jvm, uint64_t now_ns)
{
	jvm->state = JVM_ENDED;
	jvm->next_ns = now_ns + ENDED_KEPT_NS;
}

static void poll_one(struct jvm *jvm, uint64_t now_ns)
{
	struct hotspot_tracker *tracker = jvm->tracker;
	uint64_t begin_ns = cpu_now_ns(), used_ns;

	if (jvm->state == JVM_STARTING && now_ns >= jvm->next_ns)
		start(jvm, now_ns);
	if (jvm->state == JVM_FOLLOWED && now_ns >= jvm->next_ns)
		if (!look(jvm, now_ns))
			end(jvm, now_ns);
	if (jvm->state == JVM_FOLLOWED && jvm->waiting &&
	    (jvm->first_left_ns || now_ns >= tracker->rest_until_ns)) {
		work_off(jvm, jvm->first_left_ns && jvm->first_left_ns < SLICE_NS
				      ? jvm->first_left_ns
				      : SLICE_NS);
		used_ns = cpu_now_ns() - begin_ns;
		if (!jvm->first_left_ns)
			tracker->rest_until_ns = now_ns + REST_PER_WORK * used_ns;
		jvm->first_left_ns -= used_ns < jvm->first_left_ns ? used_ns : jvm->first_left_ns;
	}
}

void hotspot_tracker_poll(struct hotspot_tracker *tracker, uint64_t now_ns)
{
	uint64_t begin_ns = cpu_now_ns();

	forget_ended(tracker, now_ns);
	for (size_t i = 0; i < tracker->count && cpu_now_ns() - begin_ns < POLL_NS; i++)
		poll_one(tracker->jvms[tracker->next_polled++ % tracker->count], now_ns);
}

size_t hotspot_tracker_pids(const struct hotspot_tracker *tracker,
			    uint32_t pids[HOTSPOT_TRACKER_PROCESSES])
{
	for (size_t i = 0; i < tracker->count; i++)
		pids[i] = tracker->jvms[i]->pid;
	return tracker->count;
}

/* ---- rules ---- */

static uint32_t find_row(const struct blob_rows *rows, uint64_t offset)
{
	size_t low = 0, high = rows->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (rows->rows[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return rows->count ? rows->rows[low].rule : RULE_ID_NO_ROOM;
}

/* The earliest next look for the sake of a stack. */
static uint64_t next_look_of(const struct jvm *jvm)
{
	uint64_t next_ns = hotspot_process_next_look(jvm->process);

	return next_ns > jvm->looked_ns + LOOK_FOR_STACK_NS ? next_ns
							    : jvm->looked_ns + LOOK_FOR_STACK_NS;
}

static struct hotspot_blob *find_blob(struct jvm *jvm, uint64_t address)
{
	struct hotspot_blob *blob = hotspot_process_find(jvm->process, address);
	uint64_t now_ns = clock_now_ns();

	if (blob || jvm->state != JVM_FOLLOWED || now_ns < next_look_of(jvm) ||
	    !hotspot_process_is_code(jvm->process, address))
		return blob;
	look(jvm, now_ns);
	return hotspot_process_find(jvm->process, address);
}

/* Makes the rows of a blob for a stack, as far as there is time for that. */
static void make_rows_now(struct jvm *jvm, struct hotspot_blob *blob)
{
	struct hotspot_tracker *tracker = jvm->tracker;
	uint64_t now_ns = clock_now_ns(), begin_ns = cpu_now_ns(), used_ns;
	uint64_t more_ns = (now_ns - tracker->stack_filled_ns) / STACK_PART;

	tracker->stack_filled_ns = now_ns;
	tracker->stack_ns =
		more_ns < STACK_NS - tracker->stack_ns ? tracker->stack_ns + more_ns : STACK_NS;
	if (!tracker->stack_ns)
		return;
	make_rows_later(jvm, blob);
	used_ns = cpu_now_ns() - begin_ns;
	tracker->stack_ns -= used_ns < tracker->stack_ns ? used_ns : tracker->stack_ns;
}

static enum hotspot_tracker_rule find_known(struct jvm *jvm, uint64_t address,
					    struct pkbpf_unwind_rule *ret_rule)
{
	struct hotspot_blob *blob = find_blob(jvm, address);
	uint32_t rule;

	if (!blob)
		return hotspot_process_is_code(jvm->process, address) ? HOTSPOT_TRACKER_PENDING
								      : HOTSPOT_TRACKER_FOREIGN;
	if (!blob->user)
		make_rows_now(jvm, blob);
	rule = blob->user ? find_row(blob->user, address - blob->start) : UINT32_MAX;
	if (rule >= rule_set_count(jvm->rules))
		return HOTSPOT_TRACKER_PENDING;
	*ret_rule = rule_set_rules(jvm->rules)[rule];
	return ret_rule->cfa == PKBPF_CFA_PENDING ? HOTSPOT_TRACKER_PENDING : HOTSPOT_TRACKER_KNOWN;
}

enum hotspot_tracker_rule hotspot_tracker_find_rule(struct hotspot_tracker *tracker, uint32_t pid,
						    uint64_t address,
						    struct pkbpf_unwind_rule *ret_rule)
{
	struct jvm *jvm = find_jvm(tracker, pid);

	if (!jvm || jvm->state == JVM_UNKNOWN)
		return HOTSPOT_TRACKER_FOREIGN;
	if (!jvm->process || !hotspot_process_heap_count(jvm->process))
		return HOTSPOT_TRACKER_PENDING;
	return find_known(jvm, address, ret_rule);
}

uint64_t hotspot_tracker_wait_ns(const struct hotspot_tracker *tracker, uint32_t pid,
				 uint64_t now_ns)
{
	const struct jvm *jvm = find_jvm(tracker, pid);
	uint64_t next_ns = jvm && jvm->process ? next_look_of(jvm) : 0;

	return next_ns > now_ns ? next_ns - now_ns : 0;
}

bool hotspot_tracker_changed_since(const struct hotspot_tracker *tracker, uint32_t pid,
				   uint64_t time_ns)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	return jvm && jvm->changed_ns >= time_ns;
}

bool hotspot_tracker_covers(const struct hotspot_tracker *tracker, uint32_t pid, uint64_t start,
			    uint64_t end)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	if (!jvm || jvm->state == JVM_UNKNOWN || end <= start)
		return false;
	if (!jvm->process || !hotspot_process_heap_count(jvm->process))
		return true;
	return hotspot_process_is_code(jvm->process, start) &&
	       hotspot_process_is_code(jvm->process, end - 1);
}

bool hotspot_tracker_knows(const struct hotspot_tracker *tracker, uint32_t pid)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	return jvm && jvm->state != JVM_UNKNOWN;
}

uint64_t hotspot_tracker_serial(const struct hotspot_tracker *tracker, uint32_t pid)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	return jvm ? jvm->serial : 0;
}

/* ---- tables ---- */

size_t hotspot_tracker_heap_count(const struct hotspot_tracker *tracker, uint32_t pid)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	return jvm && jvm->process ? hotspot_process_heap_count(jvm->process) : 0;
}

struct hotspot_heap_range hotspot_tracker_heap(const struct hotspot_tracker *tracker, uint32_t pid,
					       size_t index)
{
	return hotspot_process_heap(find_jvm(tracker, pid)->process, index);
}

uint64_t hotspot_tracker_generation(const struct hotspot_tracker *tracker, uint32_t pid)
{
	const struct jvm *jvm = find_jvm(tracker, pid);

	return jvm ? jvm->generation : 0;
}

static uint32_t pages_of(const struct hotspot_heap_range *heap)
{
	uint64_t size = heap->end - heap->start + SPARE_BYTES + ROUND_BYTES - 1,
		 most = heap->reserved_end - heap->start;

	size -= size % ROUND_BYTES;
	if (size > most)
		size = most;
	return (uint32_t)((size + PKBPF_TEXT_PAGE_SIZE - 1) >> PKBPF_TEXT_PAGE_SHIFT);
}

int hotspot_tracker_table(struct hotspot_tracker *tracker, uint32_t pid, size_t index,
			  struct unwind_table **ret_table,
			  const struct pkbpf_unwind_rule **ret_rules, uint32_t *ret_rule_count)
{
	static const struct pkbpf_unwind_rule pending = {.cfa = PKBPF_CFA_PENDING};
	struct jvm *jvm = find_jvm(tracker, pid);
	struct hotspot_heap_range heap;
	struct hotspot_table *table;

	if (index >= hotspot_tracker_heap_count(tracker, pid))
		return -ENOENT;
	heap = hotspot_process_heap(jvm->process, index);
	if (heap.start % PKBPF_TEXT_PAGE_SIZE || heap.end <= heap.start ||
	    heap.reserved_end < heap.end || heap.end - heap.start > HOTSPOT_MAX_HEAP_BYTES)
		return -ENOENT;
	table = hotspot_table_new(heap.start, pages_of(&heap), rule_set_add(jvm->rules, &pending));
	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i < hotspot_process_blob_count(jvm->process); i++) {
		const struct hotspot_blob *blob = hotspot_process_blob(jvm->process, i);
		const struct blob_rows *rows = blob->user;

		if (rows && blob->start >= heap.start && blob->end <= heap.end)
			hotspot_table_add(table, blob->start, blob->end, rows->rows, rows->count);
	}
	*ret_table = hotspot_table_finish(table);
	*ret_rules = rule_set_rules(jvm->rules);
	*ret_rule_count = rule_set_count(jvm->rules);
	return *ret_table ? 0 : -ENOMEM;
}
