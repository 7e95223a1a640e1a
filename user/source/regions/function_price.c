// SPDX-License-Identifier: BSD-2-Clause
/* Measures the price of probes on a function of its own. */
#include "source/regions/function_price.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "source/regions/region_probes.h"

/* The least of many: the thread may lose its CPU between two calls. */
#define CALLS  8
#define ROUNDS 200
/* Reading the account twice, and adding to a row: REGIONS costs 0.39 and 0.23 us. */
#define PROGRAM_NS	  400
#define USUAL_EMULATED_NS 750
#define USUAL_STEPPED_NS  9200

#if defined(__x86_64__)

/* A nop and a return: one of each kind. */
void function_price_probed(void);
__asm__(".pushsection .text\n"
	".hidden function_price_probed\n"
	".globl function_price_probed\n"
	".type function_price_probed, @function\n"
	"function_price_probed: .byte 0x90\n"
	"\tret\n"
	".size function_price_probed, . - function_price_probed\n"
	".popsection\n");

/* Where in its file the code of this process at an address is. */
static bool find_offset(uint64_t address, uint64_t *ret_offset)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end) {
			*ret_offset = address - start + offset;
			return true;
		}
	}
	return false;
}

static uint64_t time_calls(void)
{
	uint64_t least_ns = UINT64_MAX;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin_ns = clock_now_ns(), time_ns;

		for (int i = 0; i < CALLS; i++)
			function_price_probed();
		time_ns = (clock_now_ns() - begin_ns) / CALLS;
		if (time_ns < least_ns)
			least_ns = time_ns;
	}
	return least_ns;
}

static uint32_t measure(const struct region_probes *model, uint64_t offset, uint32_t number,
			uint32_t usual_ns)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct region_site item = {.role = REGION_FUNCTION, .offset = offset, .cookie = number};
	struct region_sites sites = {.items = {&item, 1, 1}};
	struct region_probes *probes;
	uint64_t before_ns, after_ns;
	struct error error;

	if (fd < 0 || region_probes_copy(model, &probes) < 0)
		return usual_ns;
	before_ns = time_calls();
	if (region_probes_add(probes, fd, &sites, &error) < 0) {
		region_probes_free(probes);
		return usual_ns;
	}
	after_ns = time_calls();
	region_probes_free(probes);
	return after_ns > before_ns ? (uint32_t)(after_ns - before_ns) : usual_ns;
}

struct function_price function_price_measure(const struct region_probes *model,
					     struct pkbpf_span_site *site, uint32_t number)
{
	struct function_price price = {USUAL_EMULATED_NS, USUAL_STEPPED_NS, PROGRAM_NS};
	uint64_t offset;

	*site = (struct pkbpf_span_site){.role = PKBPF_SITE_OFF};
	if (!find_offset((uint64_t)(uintptr_t)function_price_probed, &offset))
		return price;
	price.emulated_ns = measure(model, offset, number, price.emulated_ns);
	price.stepped_ns = measure(model, offset + 1, number, price.stepped_ns);
	return price;
}

#else

struct function_price function_price_measure(const struct region_probes *model,
					     struct pkbpf_span_site *site, uint32_t number)
{
	(void)model;
	(void)site;
	(void)number;
	return (struct function_price){USUAL_EMULATED_NS, USUAL_STEPPED_NS, PROGRAM_NS};
}

#endif
