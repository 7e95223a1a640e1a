// SPDX-License-Identifier: BSD-2-Clause
/* Compares what the running kernel says its addresses are, and what we read in its list, to that
 * list itself. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "capture/session/session.h"
#include "elf/demangle.h"
#include "symbol/kernel/kernel.h"

#define SKIPPED 77
/* Functions looked at of the kernel itself; of modules and BPF programs all. */
#define KERNEL_FUNCTIONS 1000
#define PADDING_PREFIX	 "__pfx_"

struct listed {
	uint64_t address;
	char type;
	const char *name;
	const char *module; /* NULL: the kernel itself */
};

struct list {
	ARRAY_OF(struct listed) symbols; /* by address */
	uint64_t text_start, text_end;
	size_t hidden; /* address 0 */
};

struct check {
	struct list before, after; /* BPF programs of others come and go */
	struct symbolizer *asking, *reading;
	struct string_pool *strings;
	size_t addresses, modules, programs, failures;
};

static int by_address(const void *a, const void *b)
{
	const struct listed *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static void read_list(struct list *list)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line = NULL, name[512], module[64];
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		struct listed symbol;
		int fields = sscanf(line, "%" SCNx64 " %c %511s [%63[^]]]", &symbol.address,
				    &symbol.type, name, module);
		struct listed *slot;

		if (fields < 3)
			continue;
		list->hidden += symbol.address == 0;
		if (!strcmp(name, "_stext"))
			list->text_start = symbol.address;
		if (!strcmp(name, "_etext"))
			list->text_end = symbol.address;
		slot = array_add(&list->symbols);
		if (!slot)
			abort();
		*slot = symbol;
		slot->name = strdup(name);
		slot->module = fields == 4 ? strdup(module) : NULL;
	}
	free(line);
	if (file)
		fclose(file);
	if (list->symbols.count)
		qsort(list->symbols.items, list->symbols.count, sizeof(*list->symbols.items),
		      by_address);
}

static void list_done(struct list *list)
{
	array_foreach(&list->symbols, symbol) {
		free((char *)symbol->name);
		free((char *)symbol->module);
	}
	array_free(&list->symbols);
}

/* The first of those with the highest address not above this one; NULL: none. */
static const struct listed *find(const struct list *list, uint64_t address)
{
	size_t low = 0, high = list->symbols.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->symbols.items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (low--;
	     low && list->symbols.items[low - 1].address == list->symbols.items[low].address;)
		low--;
	return &list->symbols.items[low];
}

static const struct listed *end_of(const struct list *list)
{
	return list->symbols.items + list->symbols.count;
}

/* The name and the module are those of one symbol that starts where the containing one starts. */
static bool is_listed(const struct check *check, const struct list *list, uint64_t address,
		      const char *name, const char *module)
{
	const struct listed *first = find(list, address);

	for (const struct listed *each = first;
	     each && each < end_of(list) && each->address == first->address; each++) {
		const char *expected = each->name;

		if (!strncmp(expected, PADDING_PREFIX, strlen(PADDING_PREFIX)))
			expected += strlen(PADDING_PREFIX);
		if (!strcmp(demangle_name(check->strings, expected), name) &&
		    !strcmp(each->module ? each->module : "kernel", module))
			return true;
	}
	return false;
}

/* BPF programs of others go at any time. */
static bool is_gone(const struct listed *symbol)
{
	struct list now = {0};
	bool gone = symbol->module;

	if (!gone)
		return false;
	read_list(&now);
	array_foreach(&now.symbols, each)
		gone = gone &&
		       (each->address != symbol->address || strcmp(each->name, symbol->name));
	list_done(&now);
	return gone;
}

static void check_address(struct check *check, struct symbolizer *symbolizer, const char *how,
			  uint64_t address, bool is_return_address)
{
	struct frame_location location = {
		.space = FRAME_KERNEL, .address = address, .is_return_address = is_return_address};
	uint64_t within = address - is_return_address;
	struct symbol symbol;

	symbolizer_resolve(symbolizer, &location, &symbol);
	check->addresses++;
	if (symbol.result == SYMBOL_FOUND && symbol.line_count == 1 &&
	    (is_listed(check, &check->before, within, symbol.lines[0].function, symbol.module) ||
	     is_listed(check, &check->after, within, symbol.lines[0].function, symbol.module)))
		return;
	if (is_gone(find(&check->before, within)))
		return;
	check->failures++;
	printf("FAILED: %s: 0x%" PRIx64 " is %s in %s, listed is %s+0x%" PRIx64 "\n", how, within,
	       symbol.line_count ? symbol.lines[0].function : symbol_result_text(symbol.result),
	       symbol.module ? symbol.module : "nothing", find(&check->before, within)->name,
	       within - find(&check->before, within)->address);
}

static void check_symbol(struct check *check, const struct listed *symbol)
{
	const struct listed *next = symbol;
	uint64_t size;

	while (next < end_of(&check->before) && next->address == symbol->address)
		next++;
	if (next == end_of(&check->before))
		return;
	size = next->address - symbol->address;
	/* What follows the last function of a module or a program is none of its own. */
	if (symbol->module && size > 16)
		size = 16;
	for (int i = 0; i < 2; i++) {
		struct symbolizer *symbolizer = i ? check->reading : check->asking;
		const char *how = i ? "from the list" : "by the kernel";

		check_address(check, symbolizer, how, symbol->address, false);
		check_address(check, symbolizer, how, symbol->address + (uint64_t)rand() % size,
			      false);
		/* The call that does not return is the last instruction: its return address is the
		 * next function's. */
		check_address(check, symbolizer, how, symbol->address + size, true);
	}
}

static bool is_text(char type)
{
	return strchr("tTwW", type) != NULL;
}

static void check_symbols(struct check *check)
{
	const struct list *list = &check->before;
	size_t text = 0, seen = 0;

	array_foreach(&list->symbols, symbol)
		text += !symbol->module && symbol->address >= list->text_start &&
			symbol->address < list->text_end;
	array_foreach(&list->symbols, symbol) {
		if (!is_text(symbol->type))
			continue;
		if (symbol->module) {
			bool stayed = is_listed(check, &check->after, symbol->address, symbol->name,
						symbol->module);

			check->programs += stayed && !strcmp(symbol->module, "bpf");
			check->modules += stayed && strcmp(symbol->module, "bpf");
			if (stayed)
				check_symbol(check, symbol);
		} else if (symbol->address >= list->text_start &&
			   symbol->address < list->text_end &&
			   seen++ % (text / KERNEL_FUNCTIONS + 1) == 0) {
			check_symbol(check, symbol);
		}
	}
}

/* No function is at any of these: user memory, the hole between both halves, data, the end of
 * everything. */
static void check_nothing(struct check *check)
{
	static const uint64_t addresses[] = {
		1, 0x400000, 0x7fffffffe000, 0x800000000000, 0xffff000000000000, UINT64_MAX};
	uint64_t stack = (uint64_t)(uintptr_t)&addresses;

	for (size_t i = 0; i <= ARRAY_SIZE(addresses); i++) {
		struct frame_location location = {
			.space = FRAME_KERNEL,
			.address = i < ARRAY_SIZE(addresses) ? addresses[i] : stack};

		for (int j = 0; j < 2; j++) {
			struct symbol symbol;

			symbolizer_resolve(j ? check->reading : check->asking, &location, &symbol);
			check->addresses++;
			if (symbol.result == SYMBOL_NOT_IN_TABLE && symbol.line_count == 0 &&
			    symbol_result_text(symbol.result)[0])
				continue;
			check->failures++;
			printf("FAILED: %s: 0x%" PRIx64 " has the name %s\n",
			       j ? "from the list" : "by the kernel", location.address,
			       symbol.line_count ? symbol.lines[0].function : "(none)");
		}
	}
}

static bool ask(void *context, uint64_t address, char *text, size_t size)
{
	return session_name_kernel_address(context, address, text, size);
}

/* Loads what a run that samples the kernel would load. */
static struct session *load(void)
{
	struct session_options options = {
		.target_mode = PKBPF_TARGET_HOST,
		.want_kernel_stack = true,
		.unwind_mode = PKBPF_UNWIND_FP,
		.kinds_mask = 1U << PKBPF_PROFILE_CPU,
		.can_wait = true,
		.frequency_hz = 99,
	};
	struct session *session;
	struct error error;

	if (session_new(&options, &session, &error) || session_load(session, &error)) {
		printf("FAILED: %s\n", error.text);
		exit(1);
	}
	return session;
}

static int compare(struct check *check)
{
	if (check->before.hidden == check->before.symbols.count) {
		printf("skipped: /proc/kallsyms hides the addresses (sysctl "
		       "kernel.kptr_restrict)\n");
		return SKIPPED;
	}
	check_nothing(check); /* reads the list for the second symbolizer */
	read_list(&check->after);
	check_symbols(check);
	printf("%zu addresses compared, %zu functions of modules, %zu BPF programs, %zu failed\n",
	       check->addresses, check->modules, check->programs, check->failures);
	if (check->addresses < 3 * KERNEL_FUNCTIONS || !check->programs) {
		printf("FAILED: too little was compared\n");
		check->failures++;
	}
	return check->failures != 0;
}

int main(void)
{
	struct check check = {0};
	struct kernel_namer namer = {.name = ask};
	char text[256];
	int status;

	if (getuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skipped: needs root and a kernel with BTF\n");
		return SKIPPED;
	}
	namer.context = load();
	if (!ask(namer.context, 1, text, sizeof(text))) {
		printf("skipped: this kernel cannot be asked\n");
		return SKIPPED;
	}
	read_list(&check.before);
	check.strings = string_pool_new();
	check.asking = kernel_symbolizer_new("/dev/null", &namer, check.strings);
	check.reading = kernel_symbolizer_new("/proc/kallsyms", NULL, check.strings);
	status = compare(&check);
	symbolizer_free(check.asking);
	symbolizer_free(check.reading);
	string_pool_free(check.strings);
	list_done(&check.before);
	list_done(&check.after);
	session_free(namer.context);
	return status;
}
