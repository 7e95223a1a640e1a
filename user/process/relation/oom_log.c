// SPDX-License-Identifier: BSD-2-Clause
/* Finds the lines that the kernel's out-of-memory killer writes. */
#include "process/relation/oom_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG_LINES 4096

/* Behind the names in the line, which may hold anything. */
static const char *find_last(const char *line, const char *word)
{
	const char *last = NULL;

	while ((line = strstr(line, word)))
		last = line++;
	return last;
}

/* "…oom-kill:constraint=CONSTRAINT_MEMCG,…,oom_memcg=/a,task_memcg=/a,task=name,pid=1,uid=0" */
static void write_kill(const char *line, uint64_t limit_bytes, const struct relation_writer *writer)
{
	const char *cgroup = strstr(line, "oom_memcg="), *pid = find_last(line, ",pid=");
	struct relation_view view = {.relation = PKBPF_RELATION_OOM, .count = 1};
	char text[128] = "";

	if (!pid)
		return;
	view.pid = (uint32_t)strtoul(pid + 5, NULL, 10);
	if (cgroup) {
		snprintf(text, sizeof(text), "%s", cgroup + 10);
		text[strcspn(text, ",\n")] = '\0';
		view.value = limit_bytes;
	}
	view.text = text;
	relation_write(writer, &view);
}

void oom_log_write(int fd, const struct relation_writer *writer)
{
	uint64_t limit_kib, limit_bytes = 0;
	char line[2048];

	for (int i = 0; i < LOG_LINES; i++) {
		ssize_t size = read(fd, line, sizeof(line) - 1);
		const char *limit;

		/* Lines were dropped from the log: continue with the next one. */
		if (size < 0 && errno == EPIPE)
			continue;
		if (size <= 0)
			return;
		line[size] = '\0';
		limit = strstr(line, "memory: usage ");
		limit = limit ? strstr(limit, "limit ") : NULL;
		if (limit && sscanf(limit, "limit %" SCNu64 "kB", &limit_kib) == 1)
			limit_bytes = limit_kib << 10;
		if (strstr(line, "oom-kill:"))
			write_kill(line, limit_bytes, writer);
	}
}
