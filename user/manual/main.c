// SPDX-License-Identifier: BSD-2-Clause
/* Prints one of the papers; runs when pkbpf is built, and is not installed. */
#include <stdio.h>
#include <string.h>

#include "manual/papers.h"

static int write_paper(const char *what, FILE *template)
{
	if (strcmp(what, "man") == 0)
		manual_write(template, stdout);
	else if (strcmp(what, "bash") == 0)
		completion_bash_write(stdout);
	else if (strcmp(what, "fish") == 0)
		completion_fish_write(stdout);
	else if (strcmp(what, "zsh") == 0)
		completion_zsh_write(stdout);
	else
		return 2;
	return fflush(stdout) || ferror(stdout) || ferror(template);
}

int main(int argc, char **argv)
{
	FILE *template = argc == 3 ? fopen(argv[2], "re") : NULL;
	int status;

	if (!template) {
		fprintf(stderr, "usage: %s man|bash|fish|zsh TEMPLATE\n", argc ? argv[0] : "");
		return 2;
	}
	status = write_paper(argv[1], template);
	fclose(template);
	return status;
}
