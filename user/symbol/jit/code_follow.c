// SPDX-License-Identifier: BSD-2-Clause
/* Follows the file of one process: what it names goes to the places that were sampled. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/demangle.h"
#include "process/file/file_time.h"
#include "symbol/jit/code_asker.h"
#include "symbol/jit/code_file_find.h"
#include "symbol/jit/code_history_private.h"

/* What was added is read at once up to so much; more waits for a scan. */
#define MAX_GROWTH_BYTES (256U << 10)
/* A jitdump can only be cut at its records, one after the other. */
#define MAX_DUMP_GROWTH_BYTES (16U << 20)
/* A file that is not there is searched for again after this time, which doubles. */
#define OPEN_REST_NS	 CODE_HISTORY_LOOK_NS
#define MAX_OPEN_REST_NS (NS_PER_SECOND / 2)
/* A process that has had none for long is searched the more rarely, so that one that never writes a
 * file costs a daemon nothing. */
#define OPEN_REST_SHARE 16
#define LONGEST_REST_NS (60 * NS_PER_SECOND)
/* A scan is followed by so many times its duration without one: 2 % of a CPU. */
#define SCAN_REST_TIMES 50
#define SCAN_REST_NS	(200 * NS_PER_MS)
/* Entries times the places in them, of one piece of reading: lines that each cover all places must
 * not stop us. */
#define MAX_NAMINGS_OF_A_PIECE (1U << 18)
/* File times go on by ticks of 10 ms at most. */
#define SLACK_NS (20 * NS_PER_MS)

/* ---- names ---- */

/* The fuller the memory for names is, the more often a place must have been sampled. */
static uint32_t hits_needed(const struct code_history *code)
{
	static const uint32_t needed[] = {1, 1, 1, 1, 2, 4, 16, 64};
	size_t eighth = code->name_bytes / (CODE_HISTORY_MAX_NAME_BYTES / 8);

	return eighth < 8 ? needed[eighth] : UINT32_MAX;
}

static const char *pooled(struct string_pool *strings, const char *name)
{
	uint32_t string = string_pool_add(strings, name);

	return string == STRING_POOL_NONE ? "" : string_pool_get(strings, string);
}

/* NULL: it is not kept. */
static const char *keep_name(struct code_history *code, const struct code_place *place,
			     const struct code_entry *entry, const char *text, size_t size)
{
	size_t known = string_pool_count(code->strings);
	char name[CODE_MAX_NAME_BYTES];
	const char *kept;

	if (size > sizeof(name) - 1)
		size = sizeof(name) - 1;
	memcpy(name, text, size);
	name[size] = '\0';
	if (string_pool_find(code->strings, name) == STRING_POOL_NONE &&
	    place->hits < hits_needed(code))
		return NULL;
	kept = entry->is_plain ? pooled(code->strings, name) : demangle_name(code->strings, name);
	if (string_pool_count(code->strings) > known)
		code->name_bytes += strlen(kept) + 1;
	return kept[0] ? kept : NULL;
}

/* ---- entries to places ---- */

struct taking {
	struct code_history *code;
	struct code_process *process;
	const struct code_epoch *epoch; /* NULL: by the offset */
	bool is_scan;
	size_t namings;
};

static void add_to_place(struct taking *taking, struct code_place *place,
			 const struct code_entry *entry, const struct code_epoch *epoch)
{
	struct code_process *process = taking->process;
	const char *text = entry->name;
	size_t size = entry->name_size;
	char moved[CODE_MAX_NAME_BYTES];
	struct code_line line = {
		.lo_ns = epoch->lo_ns, .hi_ns = epoch->hi_ns, .snapshot = epoch->snapshot};

	if (!text) {
		size = code_reader_find_index(&process->file.reader, (uint64_t)process->file.size,
					      entry->index, &process->moves_left, moved);
		if (!size && process->moves_left)
			return;
		text = size ? moved : NULL;
	}
	/* The time that the run-time gives, unless it cannot be. */
	if (entry->time_ns && entry->time_ns <= epoch->hi_ns)
		line.lo_ns = line.hi_ns = entry->time_ns;
	line.name = text && size ? keep_name(taking->code, place, entry, text, size) : NULL;
	if (!line.name)
		taking->code->dropped += place->hits;
	code_places_add_line(&process->places, place, &line);
}

static bool take_entry(void *context, const struct code_entry *entry, uint64_t offset)
{
	struct taking *taking = context;
	struct code_process *process = taking->process;
	struct code_places *places = &process->places;
	const struct code_epoch *epoch = taking->epoch;

	for (size_t i = code_places_lower(places, entry->start); i < places->sorted; i++) {
		struct code_place *place = &places->places.items[i];

		if (place->address - entry->start >= entry->size)
			break;
		taking->namings++;
		if (offset < place->read_to || (taking->is_scan && !place->is_scanned) ||
		    (!taking->is_scan && place->read_to < process->file.known.offset))
			continue;
		if (!epoch)
			epoch = code_file_epoch(&process->file, offset);
		if (epoch)
			add_to_place(taking, place, entry, epoch);
	}
	return taking->namings < MAX_NAMINGS_OF_A_PIECE;
}

/* ---- reading ---- */

/* As code_reader_read(), by a process without rights if there are such. */
static int read_piece(struct taking *taking, struct code_cursor *cursor,
		      const struct code_piece *piece)
{
	const struct code_taker taker = {take_entry, taking};
	struct code_process *process = taking->process;
	const struct code_asker asker = {
		.readers = taking->code->options->readers,
		.pid = process->pid,
		.places = &process->places,
		.records = &process->moves_left,
	};
	int result = code_asker_read(&asker, &process->file.reader, cursor, piece, &taker);

	if (result == -ENOTCONN)
		return code_reader_read(&process->file.reader, cursor, piece->end, piece->is_last,
					piece->max_bytes, &taker);
	if (result == -EIO) {
		process->is_lost = true;
		code_process_close(taking->code, process);
	}
	return result;
}

/* ---- scans ---- */

static void begin_scan(struct code_process *process, uint64_t now_ns)
{
	struct code_places *places = &process->places;
	uint64_t from = process->file.known.offset;

	code_places_sort(places);
	array_foreach(&places->places, place) {
		place->is_scanned = place->read_to < process->file.known.offset;
		if (place->is_scanned && place->read_to < from)
			from = place->read_to;
	}
	if (from < process->file.begin.offset)
		from = process->file.begin.offset;
	process->scan = (struct code_cursor){.offset = from};
	process->scan_end = process->file.known.offset;
	process->scan_begin_ns = now_ns;
	process->scan_cost_ns = 0;
	process->is_scanning = true;
}

static void end_scan(struct code_process *process, uint64_t now_ns)
{
	uint64_t rest_ns = process->scan_cost_ns * SCAN_REST_TIMES;

	process->is_scanning = process->has_unread = false;
	array_foreach(&process->places.places, place) {
		if (place->is_scanned)
			place->read_to = process->scan_end;
		place->is_scanned = false;
		process->has_unread |= place->read_to < process->file.known.offset;
	}
	process->next_scan_ns = now_ns + (rest_ns > SCAN_REST_NS ? rest_ns : SCAN_REST_NS);
	code_places_decide(&process->places, process->file.known.offset);
}

bool code_process_scan(struct code_history *code, struct code_process *process, uint64_t max_bytes,
		       uint64_t now_ns)
{
	struct taking taking = {.code = code, .process = process, .is_scan = true};
	uint64_t begin_ns = clock_now_ns();
	int more = 0;

	if (!process->is_scanning)
		begin_scan(process, now_ns);
	/* A file that cannot be read any more names nothing. */
	if (code_file_is_open(&process->file))
		more = read_piece(&taking, &process->scan,
				  &(struct code_piece){process->scan_end, max_bytes, true});
	process->scan_cost_ns += clock_now_ns() - begin_ns;
	if (more > 0)
		return true;
	end_scan(process, clock_now_ns());
	return false;
}

/* ---- looks ---- */

static void forget_reading(struct code_process *process)
{
	process->is_scanning = false;
	process->has_unread = process->places.places.count > 0;
	array_foreach(&process->places.places, place) {
		place->read_to = 0;
		place->is_scanned = false;
	}
}

/* All of its places that knew what was before know this, too. */
static void advance_places(struct code_process *process, uint64_t before)
{
	array_foreach(&process->places.places, place) {
		if (place->read_to >= before)
			place->read_to = process->file.known.offset;
	}
}

/* false: more was written than may be read at once. */
static bool read_growth(struct code_history *code, struct code_process *process,
			const struct code_epoch *epoch)
{
	struct code_file *file = &process->file;
	struct code_cursor cursor = file->known;
	uint64_t before = file->known.offset,
		 most = file->reader.is_jitdump ? MAX_DUMP_GROWTH_BYTES : MAX_GROWTH_BYTES;
	struct taking taking = {.code = code, .process = process, .epoch = epoch};
	int more;

	code_places_sort(&process->places);
	more = read_piece(&taking, &cursor,
			  &(struct code_piece){(uint64_t)file->size, most, process->ended});
	if (cursor.offset != before) {
		code_file_add_epoch(file, &cursor, epoch);
		advance_places(process, before);
	}
	return more <= 0;
}

static void take_growth(struct code_history *code, struct code_process *process, uint64_t now_ns,
			uint64_t modified_ns)
{
	struct code_file *file = &process->file;
	struct code_epoch epoch = code_file_next_epoch(file, now_ns, modified_ns);
	uint64_t size = (uint64_t)file->size;
	struct code_cursor cursor = {0};

	if ((file->reader.is_jitdump ||
	     (!file->is_new && size - file->known.offset <= MAX_GROWTH_BYTES)) &&
	    (read_growth(code, process, &epoch) || file->reader.is_jitdump))
		return;
	if (process->is_lost)
		return;
	cursor.offset = process->ended ? size : code_file_last_line(file, size);
	if (cursor.offset == file->known.offset)
		return;
	code_file_add_epoch(file, &cursor, &epoch);
	process->has_unread = process->places.places.count > 0;
}

/* Another program, which has its pid now, writes its own. */
static bool is_of_the_next(const struct code_history *code, const struct code_process *process,
			   const struct stat *st)
{
	const struct process *known = code_history_known(code, process);

	return known && known->end_ns && file_time_ns(&st->st_mtim) > known->end_ns + SLACK_NS;
}

static void look_at_file(struct code_history *code, struct code_process *process, uint64_t now_ns)
{
	struct code_file *file = &process->file;
	struct stat st;
	enum code_file_change change;

	if (fstat(file->reader.fd, &st) < 0 || is_of_the_next(code, process, &st))
		return;
	change = code_file_look(file, &st);
	if (change == CODE_FILE_REWRITTEN)
		forget_reading(process);
	if (change != CODE_FILE_SAME)
		process->grew_ns = now_ns;
	if ((uint64_t)file->size > file->known.offset &&
	    (change != CODE_FILE_SAME || file->reader.is_jitdump || process->ended))
		take_growth(code, process, now_ns, file_time_ns(&st.st_mtim));
	if ((uint64_t)file->size == file->known.offset)
		file->clean_ns = now_ns;
	process->is_unlinked = !st.st_nlink;
}

void code_process_close(struct code_history *code, struct code_process *process)
{
	if (!code_file_is_open(&process->file))
		return;
	code_file_close(&process->file);
	code->open_count--;
}

static void make_room(struct code_history *code)
{
	struct code_process *oldest = NULL;

	array_foreach(&code->items, each) {
		if (code_file_is_open(&(*each)->file) &&
		    (!oldest || (*each)->used_ns < oldest->used_ns))
			oldest = *each;
	}
	if (oldest)
		code_process_close(code, oldest);
}

static uint64_t most_rest_ns(struct code_process *process, uint64_t now_ns)
{
	uint64_t rest_ns;

	if (!process->first_open_ns)
		process->first_open_ns = now_ns;
	rest_ns = (now_ns - process->first_open_ns) / OPEN_REST_SHARE;
	if (rest_ns < MAX_OPEN_REST_NS)
		return MAX_OPEN_REST_NS;
	return rest_ns < LONGEST_REST_NS ? rest_ns : LONGEST_REST_NS;
}

static void open_file(struct code_history *code, struct code_process *process, uint64_t now_ns)
{
	const struct process *known = code_history_known(code, process);
	struct code_file_search search = {code->options, code->processes, known};
	struct stat st;
	int fd = known ? code_file_find(&search, &st) : -ENOENT;

	process->open_rest_ns = process->open_rest_ns ? 2 * process->open_rest_ns : OPEN_REST_NS;
	if (process->open_rest_ns > most_rest_ns(process, now_ns) || fd >= 0)
		process->open_rest_ns = fd >= 0 ? MAX_OPEN_REST_NS : most_rest_ns(process, now_ns);
	process->next_open_ns = now_ns + process->open_rest_ns;
	if (fd < 0) {
		process->reason = fd;
		if (fd == -ENOENT && !process->file.inode)
			process->file.clean_ns = now_ns;
		return;
	}
	if (code_file_is_open(&process->file))
		code->open_count--;
	else if (code->open_count >= CODE_HISTORY_MAX_FILES)
		make_room(code);
	code_file_set(&process->file, fd, &st);
	code->open_count++;
}

/* One that was closed to make room for others is missed at once. */
static bool wants_to_open(const struct code_process *process, uint64_t now_ns)
{
	if (process->is_lost)
		return false;
	if (code_file_is_open(&process->file))
		return process->is_unlinked && !process->ended && now_ns >= process->next_open_ns;
	return process->file.inode || process->ended || now_ns >= process->next_open_ns;
}

void code_process_look(struct code_history *code, struct code_process *process, uint64_t now_ns)
{
	if (wants_to_open(process, now_ns))
		open_file(code, process, now_ns);
	if (code_file_is_open(&process->file))
		look_at_file(code, process, now_ns);
	process->looked_ns = now_ns;
	if (process->places.waits.count)
		code_places_decide(&process->places, process->file.known.offset);
}
