/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sampled addresses of one process's generated code: which names each had, when it got them,
 * and what a sample of some time therefore reads. One owner thread.
 *
 * A run-time that writes a line says that code begins to be there, not when: between two looks at
 * its file (lo_ns, hi_ns]. A sample of that time may be of the code before or of the new one, and
 * reads "new or old". Readings are numbered: a frame keeps the number, the name may come later.
 */
#ifndef PKBPF_SYMBOL_JIT_CODE_PLACES_H
#define PKBPF_SYMBOL_JIT_CODE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

#define CODE_PLACES_MAX_READINGS 65534 /* of one process */
#define CODE_NO_READING		 UINT32_MAX

/* A name of a place. Texts live as long as the pool they are from. */
struct code_line {
	uint64_t lo_ns, hi_ns; /* written after lo_ns, at hi_ns at the latest; equal: then */
	const char *name;      /* NULL: it had one, which was not kept to save memory */
	uint32_t older;	       /* number + 1 in lines of the one before; 0: none */
	bool snapshot; /* of a file that was written at once: of code that was there already */
};

enum code_reading_state {
	CODE_WAITING, /* for the file to be read */
	CODE_UNNAMED, /* no line covers it; one may still come */
	CODE_NAMED,
	CODE_SAME,    /* reads as another reading does */
	CODE_DROPPED, /* has a name that was not kept */
};

struct code_reading {
	const char *name, *other; /* other: what it may be as well; NULL: it is certain */
	uint8_t state;
	bool late;   /* to a file that had been read, the name was added after the sample */
	bool after;  /* the name was written after the sample, in whatever way */
	bool others; /* it may be still others */
	uint32_t same;
};

struct code_place {
	uint64_t address;
	uint64_t read_to; /* all of its lines before that offset in the file are known */
	uint32_t newest;  /* number + 1 in lines; 0: none */
	uint32_t line_count;
	uint32_t hits;
	uint32_t reading;   /* the last one given; or CODE_NO_READING */
	uint32_t open;	    /* that waits for a first line to come; or CODE_NO_READING */
	uint32_t inherited; /* reading in the parent of the process; or CODE_NO_READING */
	uint64_t open_ns;   /* of its first sample */
	uint32_t wait;	    /* the last one in waits, if there is one */
	uint32_t wait_count;
	bool is_scanned; /* by the scan under way */
};

/* Samples of a place whose lines are not all known. */
struct code_wait {
	uint64_t address;
	uint64_t first_ns, last_ns;
	uint32_t reading;
};

struct code_places {
	ARRAY_OF(struct code_place) places; /* by address, up to `sorted` */
	size_t sorted;
	ARRAY_OF(struct code_line) lines;
	uint32_t free_line; /* number + 1, linked by older */
	ARRAY_OF(struct code_reading) readings;
	ARRAY_OF(struct code_wait) waits;
};

void code_places_done(struct code_places *places);
/* NULL: not known; or out of memory. Until the next add or sort. */
struct code_place *code_places_find(struct code_places *places, uint64_t address);
struct code_place *code_places_add(struct code_places *places, uint64_t address);
void code_places_sort(struct code_places *places);
/* The first place at or behind an address, among those sorted. */
size_t code_places_lower(const struct code_places *places, uint64_t address);
/* Notes a name of a place, later than those before it. false: out of memory. */
bool code_places_add_line(struct code_places *places, struct code_place *place,
			  const struct code_line *line);
/* What a sample of a place reads whose lines are known; CODE_NO_READING: too many, no memory. */
uint32_t code_places_read(struct code_places *places, struct code_place *place, uint64_t time_ns);
/* What it will read. boundary(context, a, b): whether a line may have been written in between. */
uint32_t code_places_wait(struct code_places *places, struct code_place *place, uint64_t time_ns,
			  bool (*boundary)(const void *context, uint64_t a_ns, uint64_t b_ns),
			  const void *context);
/* Decides what was waited for in places that are known up to `read_to`. */
void code_places_decide(struct code_places *places, uint64_t read_to);
/* Forgets places that were sampled less often, and halves the counts of the others. Returns how
 * many samples lose their name by that: what was decided keeps it. */
uint64_t code_places_forget_rare(struct code_places *places, uint32_t hits);

#endif
