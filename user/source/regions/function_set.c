// SPDX-License-Identifier: BSD-2-Clause
/* Puts probes on functions, and takes those off that cost too much. */
#include "source/regions/function_group.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "instruction/function_exits.h"
#include "source/regions/function_match.h"
#include "source/regions/function_price.h"
#include "source/regions/function_semaphores.h"
#include "source/regions/function_sites.h"
#include "source/regions/region_probes.h"

/* Numbers of pairs of probes are below. */
#define FIRST_PAIR 0x10000U
/* New probes are looked at soon: one too many slows a program down several times. */
#define NEW_NS	     (NS_PER_SECOND / 2)
#define NEW_REST_MS  20
#define REST_MS	     100
#define TOLD_AT_MOST 5
/* Reading the stack of a call, and adding to its entry: stacks of ten frames of this machine. */
#define STACK_NS 2500

int function_set_new(const struct function_set_options *options, struct function_set **ret_set)
{
	struct function_set *set = calloc(1, sizeof(*set));
	size_t count = options->pattern_count;

	if (!set)
		return -ENOMEM;
	set->options = *options;
	set->options.patterns = NULL;
	set->options.pattern_count = 0;
	set->patterns = calloc(count + 1, sizeof(*set->patterns));
	set->texts = calloc(count + 1, sizeof(*set->texts));
	set->found = calloc(count + 1, sizeof(*set->found));
	for (size_t i = 0; i < count && set->patterns && set->texts && set->found; i++) {
		set->texts[i] = strdup(options->patterns[i]);
		if (!set->texts[i] || !function_pattern_parse(set->texts[i], &set->patterns[i]))
			break;
		set->options.pattern_count++;
	}
	if (set->options.pattern_count != count) {
		function_set_free(set);
		return -ENOMEM;
	}
	*ret_set = set;
	return 0;
}

void function_set_begin(struct function_set *set, struct pkbpf_span_site *sites, uint32_t first,
			uint32_t count)
{
	set->sites = sites;
	/* The lowest numbers are used first. */
	if (array_reserve(&set->free_sites, count))
		for (uint32_t i = count; i-- > first;)
			*array_add(&set->free_sites) = i;
	if (!set->free_sites.count)
		return;
	set->price = function_price_measure(set->options.probes, &sites[count - 1], count - 1);
	log_info(set->options.log,
		 "a probe costs %u ns, %u ns where the kernel has to step, and its program %u ns",
		 set->price.emulated_ns, set->price.stepped_ns, set->price.program_ns);
}

/* ---- functions of a file ---- */

static void say_unmeasured(const struct function_set *set, const char *name,
			   enum function_refusal refusal, bool has_entry)
{
	log_warning(set->options.log, "%s %s: %s", name,
		    has_entry ? "is counted, but not measured" : "is not counted",
		    function_refusal_text(refusal));
}

static int add_function(struct function_set *set, const struct elf_file *file,
			const struct matched_functions *matches,
			const struct matched_function *matched)
{
	struct function_code found = {.file = file, .matches = matches, .matched = matched};
	bool is_sized = matched->size <= MAX_FUNCTION_BYTES;
	_cleanup_free_ uint8_t *code = malloc(is_sized ? matched->size + 1 : 1);
	_cleanup_free_ struct function_probes *probes = malloc(sizeof(*probes));
	uint64_t offset, bytes;
	struct function *function;
	bool has_entry;

	if (!code || !probes)
		return -ENOMEM;
	probes->refusal = FUNCTION_IS_NOT_CODE;
	if (is_sized && elf_segments_offset(&file->segments, matched->address, &offset, &bytes) &&
	    bytes >= matched->size &&
	    elf_file_read_address(file, matched->address, code, matched->size) == 0)
		function_probes_find(code, matched->size, probes);
	has_entry = function_probes_has_entry(probes);
	if (probes->refusal != FUNCTION_IS_KNOWN)
		say_unmeasured(set, matched->name, probes->refusal, has_entry);
	if (!has_entry)
		return 0;
	function = array_add(&set->functions);
	if (!function)
		return -ENOMEM;
	snprintf(function->name, sizeof(function->name), "%.*s()", (int)sizeof(function->name) - 3,
		 matched->name);
	function->is_emulated = probes->is_emulated;
	if (probes->refusal != FUNCTION_IS_KNOWN) {
		function->state = FUNCTION_COUNTED;
		probes->exit_count = 0;
	}
	found.name = function->name;
	found.offset = offset;
	found.pair = FIRST_PAIR + (uint32_t)set->functions.count - 1;
	return function_sites_find(&found, probes, &function->sites);
}

static void add_hits(const struct function_set *set, struct function *function)
{
	for (size_t i = 0; i < function->numbers.count; i++) {
		volatile struct pkbpf_span_site *site = &set->sites[function->numbers.items[i]];
		uint64_t hits = __atomic_exchange_n((uint64_t *)&site->hits, 0, __ATOMIC_RELAXED);
		bool is_emulated = i ? site->condition != PKBPF_EXIT_ALWAYS : function->is_emulated;

		/* It is read where a call ends, or where it is counted. */
		bool has_stack =
			set->options.wants_callers && (i || function->state == FUNCTION_COUNTED);

		function->entries += i ? 0 : hits;
		function->cost_ns +=
			hits * ((is_emulated ? set->price.emulated_ns : set->price.stepped_ns) +
				set->price.program_ns + (has_stack ? STACK_NS : 0));
	}
}

static int add_matches(struct function_set *set, const struct elf_file *file, const char *path,
		       struct matched_functions *matches)
{
	int err = 0;

	for (size_t i = 0; i < set->options.pattern_count && !err; i++) {
		uint32_t before = matches->meant;

		if (!function_pattern_has_file(&set->patterns[i], path))
			continue;
		err = function_match(file, path, &set->patterns[i], matches);
		set->found[i] += matches->meant - before;
	}
	if (matches->chosen_later)
		log_warning(set->options.log,
			    "%u names of %s stand for one of several functions, chosen when it "
			    "starts, and are not counted: ask for those, as __memcpy_avx_*",
			    matches->chosen_later, path);
	return err;
}

bool function_set_wants(const struct function_set *set, const char *path)
{
	for (size_t i = 0; i < set->options.pattern_count; i++)
		if (function_pattern_has_file(&set->patterns[i], path))
			return true;
	return false;
}

bool function_set_means(struct function_set *set, const char *path, const char *name,
			char *ret_name, size_t size)
{
	for (size_t i = 0; i < set->options.pattern_count; i++) {
		const struct function_pattern *pattern = &set->patterns[i];

		if (!pattern->address && function_pattern_has_file(pattern, path) &&
		    function_pattern_means(pattern, name, ret_name, size)) {
			set->found[i]++;
			return true;
		}
	}
	return false;
}

static bool is_too_many(const struct function_set *set, const struct matched_functions *matches,
			const char *path)
{
	size_t count = set->functions.count + matches->items.count;
	char text[512] = "";
	size_t used = 0;

	if (count <= set->options.most)
		return false;
	for (size_t i = 0; i < matches->items.count && i < TOLD_AT_MOST; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.80s", i ? ", " : "",
					 matches->items.items[i].name);
	log_warning(set->options.log,
		    "%zu functions of %s are meant (%s, ...), more than %u in all: none of them is "
		    "counted; use a narrower pattern or --max-probes",
		    matches->items.count, path, text, set->options.most);
	return true;
}

int function_set_add(struct function_set *set, const struct elf_file *file, int fd,
		     const char *path)
{
	struct function_semaphores semaphores = {0};
	struct matched_functions matches = {0};
	struct function_file *item;
	size_t first = set->functions.count;
	int err = file->machine == EM_X86_64 ? add_matches(set, file, path, &matches) : 0;

	if (err || !matches.items.count || is_too_many(set, &matches, path)) {
		matched_functions_done(&matches);
		return err;
	}
	err = function_semaphores_load(&semaphores, file);
	for (size_t i = 0; i < matches.items.count && !err; i++)
		err = add_function(set, file, &matches, &matches.items.items[i]);
	for (size_t i = first; i < set->functions.count; i++)
		function_semaphores_set(&semaphores, &set->functions.items[i].sites);
	function_semaphores_done(&semaphores);
	matched_functions_done(&matches);
	item = err ? NULL : array_add(&set->files);
	if (!item)
		return err ? err : -ENOMEM;
	*item = (struct function_file){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .path = strdup(path)};
	set->begun_ns = clock_now_ns();
	err = item->fd < 0 ? -errno : function_groups_add(set, first);
	log_info(set->options.log, "probes on %zu functions of %s", set->functions.count - first,
		 path);
	return err;
}

size_t function_set_count(const struct function_set *set)
{
	return set ? set->functions.count : 0;
}

/* ---- the budget ---- */

static void give_way(struct function_set *set, struct function_group *group,
		     struct function *function, uint64_t time_ns, struct pkbpf_span_row *rows,
		     uint32_t row_count)
{
	uint64_t rate = function->entries * NS_PER_SECOND / time_ns;

	if (function->state == FUNCTION_MEASURED) {
		function->state = FUNCTION_COUNTED;
		/* The probe stays, so that each call counts once. */
		__atomic_store_n(&set->sites[function->numbers.items[0]].role, PKBPF_SITE_COUNT,
				 __ATOMIC_RELAXED);
		group->returns_change = true;
		log_warning(set->options.log,
			    "%s is called too often to be measured within --probe-cost: from now "
			    "on its calls are counted only",
			    function->name);
		return;
	}
	function->state = FUNCTION_LET_GO;
	group->entries_change = true;
	region_rows_let_go(rows, row_count, function->name, true);
	log_warning(set->options.log,
		    "%s is called too often to be counted within --probe-cost (at least %" PRIu64
		    " calls/s): it is let go",
		    function->name, rate);
}

static struct function *dearest(struct function_set *set)
{
	struct function *best = NULL;

	array_foreach(&set->functions, each)
		if (each->cost_ns && (!best || each->cost_ns > best->cost_ns))
			best = each;
	return best;
}

void function_set_poll(struct function_set *set, uint64_t now_ns, struct pkbpf_span_row *rows,
		       uint32_t row_count)
{
	uint64_t time_ns = now_ns - set->polled_ns, cost_ns = 0, most_ns;

	if (!set->functions.count || time_ns < NEW_REST_MS * NS_PER_MS / 2)
		return;
	most_ns = time_ns / 1000 * set->options.cost_permille * set->options.cpu_count;
	array_foreach(&set->functions, function) {
		add_hits(set, function);
		cost_ns += function->cost_ns;
	}
	while (set->polled_ns && cost_ns > most_ns) {
		struct function *function = dearest(set);
		struct function_group *group = function ? function_group_of(set, function) : NULL;

		if (!group)
			break;
		give_way(set, group, function, time_ns, rows, row_count);
		cost_ns -= function->cost_ns;
		function->cost_ns = 0;
	}
	array_foreach(&set->functions, function)
		function->cost_ns = function->entries = 0;
	array_foreach(&set->groups, group)
		function_group_change(set, group, rows, row_count);
	set->polled_ns = now_ns;
}

int function_set_rest_ms(const struct function_set *set)
{
	return clock_now_ns() - set->begun_ns < NEW_NS ? NEW_REST_MS : REST_MS;
}

uint32_t function_set_remove(struct function_set *set)
{
	uint32_t unknown = 0;

	function_groups_end(set);
	for (size_t i = 0; i < set->options.pattern_count; i++)
		if (!set->found[i]) {
			log_warning(set->options.log, "--function %s%s%s means no function",
				    set->patterns[i].library ? set->patterns[i].library : "",
				    set->patterns[i].library ? ":" : "", set->patterns[i].glob);
			unknown++;
		}
	return unknown;
}

static void close_files(struct function_set *set)
{
	array_foreach(&set->files, file) {
		free(file->path);
		if (file->fd >= 0)
			close(file->fd);
	}
	array_free(&set->files);
}

void function_set_free(struct function_set *set)
{
	if (!set)
		return;
	array_foreach(&set->functions, function) {
		region_sites_done(&function->sites);
		array_free(&function->numbers);
	}
	array_free(&set->functions);
	function_groups_end(set);
	array_free(&set->groups);
	close_files(set);
	array_free(&set->free_sites);
	for (size_t i = 0; set->texts && i < set->options.pattern_count; i++)
		free(set->texts[i]);
	free(set->texts);
	free(set->patterns);
	free(set->found);
	free(set);
}
