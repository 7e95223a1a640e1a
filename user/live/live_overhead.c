// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the CPU time of a running capture within --max-overhead. */
#include "base/clock.h"
#include "live/live_capture_private.h"
#include "reader/readers.h"

uint64_t live_cpu_ns(const struct live_capture *live)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) +
	       readers_cpu_ns(live->options.session.readers);
}

void live_overhead_begin(struct live_capture *live)
{
	const struct offcpu_options *options = &live->options.sources.offcpu;

	live->overhead = (struct overhead_limit){
		.limit_permille = options->max_overhead_given ? options->max_overhead_permille : 0,
		.kinds_mask = live->options.session.kinds_mask,
	};
	live->overhead_since_ns = clock_now_ns();
	live->overhead_cpu_ns = live_cpu_ns(live);
}

/* What the caller wants left out, and what the limit does. */
static void shed(struct live_capture *live)
{
	struct pkbpf_shed_control all = overhead_limit_shed(&live->overhead);

	overhead_shed_add(&all, &live->shed);
	session_shed(live->session, &all);
}

void live_capture_shed(struct live_capture *live, const struct pkbpf_shed_control *wanted)
{
	live->shed = *wanted;
	shed(live);
}

void live_overhead_look(struct live_capture *live)
{
	const struct log *log = live->options.session.log;
	uint64_t now_ns = clock_now_ns(), passed_ns = now_ns - live->overhead_since_ns, cpu_ns;
	struct program_share share;
	double percent;
	int step;

	if (!live->overhead.limit_permille || passed_ns < NS_PER_SECOND)
		return;
	cpu_ns = live_cpu_ns(live);
	share = session_program_share(live->session);
	percent = 100 * (double)(cpu_ns - live->overhead_cpu_ns) / (double)passed_ns;
	if (share.passed_ns)
		percent += 100 * (double)share.ran_ns / (double)share.passed_ns;
	live->overhead_since_ns = now_ns;
	live->overhead_cpu_ns = cpu_ns;
	step = overhead_limit_add(&live->overhead, (uint64_t)(percent / 100 * (double)passed_ns),
				  passed_ns);
	if (!step)
		return;
	shed(live);
	if (step > 0)
		log_warning(log, "%.1f %% of one CPU used, --max-overhead allows %.0f %%: %s",
			    percent, live->overhead.limit_permille / 10.0,
			    overhead_limit_text(&live->overhead));
	else
		log_info(log, "%.1f %% of one CPU used: one step back towards full detail%s%s",
			 percent, live->overhead.step ? "; " : "",
			 overhead_limit_text(&live->overhead));
}
