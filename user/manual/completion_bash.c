// SPDX-License-Identifier: BSD-2-Clause
/* Completion for bash. It stands alone, but uses bash-completion for `-- COMMAND` where that is
 * there. */
#include "cli/command_table.h"
#include "export/format.h"
#include "manual/papers.h"
#include "source/source.h"

static const char *const head =
	"# bash completion for pkbpf, made from its table of options\n"
	"_pkbpf_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"); }\n"
	"\n"
	"# Of a list with commas the last item.\n"
	"_pkbpf_list() {\n"
	"\tlocal before=\n"
	"\t[[ $2 == *,* ]] && before=${2%,*},\n"
	"\t_pkbpf_words \"$1\" \"${2##*,}\"\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]/#/$before}\")\n"
	"\tcompopt -o nospace 2>/dev/null\n"
	"}\n"
	"\n"
	"_pkbpf_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$2\")\n"
	"}\n"
	"\n"
	"# compgen -W would evaluate names, and any user may name a cgroup.\n"
	"_pkbpf_cgroups() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(cd /sys/fs/cgroup 2>/dev/null && compgen -d -- \"$1\")\n"
	"}\n"
	"\n"
	"_pkbpf_command() {\n"
	"\tif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telif ((COMP_CWORD == $1)); then\n"
	"\t\t_pkbpf_files -c \"$2\"\n"
	"\telse\n"
	"\t\t_pkbpf_files -f \"$2\"\n"
	"\tfi\n"
	"}\n"
	"\n"
	"_pkbpf() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options i\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\t[[ ${COMP_WORDS[i]} == -- ]] && { _pkbpf_command $((i + 1)) \"$cur\"; return; }\n"
	"\tdone\n"
	"\t# \"--by=thread\" are three words to bash.\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tcase $prev in\n";

static void put_choices(FILE *out, const struct option_row *row)
{
	fputs("_pkbpf_words \"", out);
	for (size_t i = 0; row->choices[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", row->choices[i]);
	fputs("\" \"$cur\"", out);
}

static void put_value(FILE *out, const struct option_row *row)
{
	switch (row->completes) {
	case OPTION_COMPLETES_FILE:
		fputs("_pkbpf_files -f \"$cur\"", out);
		return;
	case OPTION_COMPLETES_PID:
		fputs("_pkbpf_list \"$(cd /proc && echo [0-9]*)\" \"$cur\"", out);
		return;
	case OPTION_COMPLETES_TID:
		fputs("_pkbpf_list \"$(cd /proc && printf '%s\\n' [0-9]*/task/* | "
		      "sed 's,.*/,,')\" \"$cur\"",
		      out);
		return;
	case OPTION_COMPLETES_CGROUP:
		fputs("_pkbpf_cgroups \"$cur\"", out);
		return;
	case OPTION_COMPLETES_KIND:
		fputs("_pkbpf_list \"", out);
		for (size_t i = 0; source_at(i); i++)
			fprintf(out, "%s%s", i ? " " : "", source_at(i)->name);
		fputs("\" \"$cur\"", out);
		return;
	case OPTION_COMPLETES_FORMAT:
		fputs("_pkbpf_words \"", out);
		for (size_t i = 0; format_at(i); i++)
			fprintf(out, "%s%s", i ? " " : "", format_at(i)->name);
		fputs("\" \"$cur\"", out);
		return;
	case OPTION_COMPLETES_NOTHING:
		break;
	}
	if (row->form == OPTION_CHOICE)
		put_choices(out, row);
	else
		fputs(":", out);
}

static void put_values(FILE *out, const struct command_row *command)
{
	const struct option_row *row;

	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		/* An option means the same in every command that takes it. */
		if (!row->argument || (command != command_at(0) && !command_owns(command, row)))
			continue;
		fputs("\t", out);
		if (row->letter)
			fprintf(out, "-%c | ", row->letter);
		fprintf(out, "--%s) ", row->name);
		put_value(out, row);
		fputs("; return ;;\n", out);
	}
}

static void put_options(FILE *out, const struct command_row *command)
{
	const struct option_row *row;

	fprintf(out, "\t%s) options=\"", command->name ? command->name : "*");
	for (size_t i = 0; (row = command_option_at(command, i)); i++) {
		if (row->letter)
			fprintf(out, "-%c ", row->letter);
		fprintf(out, "--%s ", row->name);
	}
	for (size_t i = 0; !command->name && command_at(i); i++)
		if (command_at(i)->name)
			fprintf(out, "%s ", command_at(i)->name);
	/* Words that do not begin with a dash are files. */
	fprintf(out, "\"%s ;;\n",
		command->takes_files ? "; [[ $cur != -* ]] && { _pkbpf_files -f \"$cur\"; return; }"
				     : "");
}

void completion_bash_write(FILE *out)
{
	fputs(head, out);
	for (size_t i = 0; command_at(i); i++)
		put_values(out, command_at(i));
	fputs("\tesac\n\tcase ${COMP_WORDS[1]} in\n", out);
	for (size_t i = 1; command_at(i); i++)
		put_options(out, command_at(i));
	put_options(out, command_at(0));
	fputs("\tesac\n\t_pkbpf_words \"$options\" \"$cur\"\n}\ncomplete -F _pkbpf pkbpf\n", out);
}
