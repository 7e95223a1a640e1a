// SPDX-License-Identifier: BSD-2-Clause
/* Finds the scripts that interpreters run: the process name python3 says little. */
#include "process/relation/scripts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "process/relation/relation_writer.h"

/* Options by their letters, which may be put together ("-euxc"), and by words. */
struct interpreter {
	const char *name;
	const char *ends;     /* the program is an argument or the input: no script */
	const char *next;     /* take the next argument */
	const char *argument; /* take the rest of the word, or the next argument without one */
	const char *rest;     /* take the rest of the word, if there is one */
	const char *script;   /* as `argument`, which is the script */
	const char *words;    /* take the next argument; a blank around each */
	const char *word_ends;
	bool is_shell; /* options may begin with "+"; "-" ends them, which else is the input */
};

#define SHELL "cs", "oO", "", "", "", " --rcfile --init-file ", "", true

static const struct interpreter interpreters[] = {
	{"bash", SHELL},
	{"sh", SHELL},
	{"dash", SHELL},
	{"zsh", SHELL},
	{"python", "c", "", "WX", "", "m", " --check-hash-based-pycs ", "", false},
	{"perl", "eE", "", "I", "CDFMdimx", "", "", "", false},
	{"ruby", "e", "", "CEIr", "FKTWix", "",
	 " --encoding --external-encoding --internal-encoding --enable --disable ", "", false},
	{"node", "ep", "", "Cr", "", "",
	 " --require --import --loader --experimental-loader --conditions --env-file --input-type "
	 "--title --icu-data-dir --openssl-config --diagnostic-dir --unhandled-rejections ",
	 " --eval --print ", false},
	{"php", "BERSr", "", "cdtz", "", "Ff",
	 " --define --php-ini --docroot --zend-extension --file --process-file ",
	 " --run --process-begin --process-code --process-end --server ", false},
	{"lua", "e", "", "l", "", "", "", "", false},
	{"java", "", "", "", "", "",
	 " -cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules "
	 "--add-exports --add-opens --add-reads --patch-module --enable-native-access "
	 "--limit-modules --source ",
	 "", false},
};

/* A version may follow: "python3.12". Threads and other programs ("node_exporter") are none. */
static const struct interpreter *find_interpreter(const char *comm)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		size_t length = strlen(interpreters[i].name);

		if (strncmp(comm, interpreters[i].name, length) == 0 &&
		    !comm[length + strspn(comm + length, "0123456789.")])
			return &interpreters[i];
	}
	return NULL;
}

/* words: with a blank around each; a value may follow the option ("--eval=1"). */
static bool has_word(const char *words, const char *option, bool with_value)
{
	size_t length = with_value ? strcspn(option, "=") : strlen(option);

	for (const char *at = words; length && (at = strchr(at, ' ')) && at[1]; at++)
		if (strncmp(at + 1, option, length) == 0 && at[1 + length] == ' ')
			return true;
	return false;
}

enum effect {
	NOTHING,
	TAKES_NEXT,
	SCRIPT_FOLLOWS,
	HAS_NO_SCRIPT,
};

/* *ret_script: when it is the rest of the word. */
static enum effect effect_of_letters(const struct interpreter *interpreter, const char *letters,
				     const char **ret_script)
{
	enum effect effect = NOTHING;

	for (; *letters; letters++) {
		if (strchr(interpreter->ends, *letters))
			return HAS_NO_SCRIPT;
		if (strchr(interpreter->next, *letters))
			effect = TAKES_NEXT;
		if (strchr(interpreter->rest, *letters))
			return effect;
		if (strchr(interpreter->argument, *letters))
			return letters[1] ? effect : TAKES_NEXT;
		if (strchr(interpreter->script, *letters)) {
			*ret_script = letters[1] ? letters + 1 : NULL;
			return SCRIPT_FOLLOWS;
		}
	}
	return effect;
}

static enum effect effect_of(const struct interpreter *interpreter, const char *argument,
			     const char **ret_script)
{
	if (!argument[0])
		return NOTHING;
	if (argument[0] != '-' && (argument[0] != '+' || !interpreter->is_shell)) {
		*ret_script = argument;
		return SCRIPT_FOLLOWS;
	}
	if (!argument[1] && !interpreter->is_shell)
		return HAS_NO_SCRIPT;
	if (!argument[1] || !strcmp(argument, "--"))
		return SCRIPT_FOLLOWS;
	if (has_word(interpreter->word_ends, argument, true))
		return HAS_NO_SCRIPT;
	if (has_word(interpreter->words, argument, false))
		return TAKES_NEXT;
	return argument[1] == '-' ? NOTHING
				  : effect_of_letters(interpreter, argument + 1, ret_script);
}

/* The argument behind; NULL: there is none. */
static const char *next_of(const char *argument, const char *end)
{
	const char *next = argument + strlen(argument) + 1;

	return next < end ? next : NULL;
}

const char *script_of(const char *comm, const char *arguments, size_t size)
{
	const struct interpreter *interpreter = find_interpreter(comm);
	const char *end = arguments + size, *argument;

	if (!interpreter || !size)
		return NULL;
	argument = next_of(arguments, end);
	while (argument) {
		const char *script = NULL;

		switch (effect_of(interpreter, argument, &script)) {
		case HAS_NO_SCRIPT:
			return NULL;
		case SCRIPT_FOLLOWS:
			return script ? script : next_of(argument, end);
		case TAKES_NEXT:
			argument = next_of(argument, end);
			break;
		case NOTHING:
			break;
		}
		argument = argument ? next_of(argument, end) : NULL;
	}
	return NULL;
}

void relation_scripts(const struct relation_writer *writer)
{
	char comm[PKBPF_COMM_SIZE + 1], path[64], arguments[1024];

	for (size_t i = 0; i < writer->pid_count; i++) {
		_cleanup_close_ int fd = -1;
		const char *script;
		ssize_t size;

		relation_read_comm(writer->pids[i], comm);
		if (!find_interpreter(comm))
			continue;
		snprintf(path, sizeof(path), "/proc/%u/cmdline", writer->pids[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		size = fd < 0 ? 0 : read(fd, arguments, sizeof(arguments) - 1);
		if (size <= 0)
			continue;
		arguments[size] = '\0';
		script = script_of(comm, arguments, (size_t)size);
		if (script && script[0])
			relation_write(writer,
				       &(struct relation_view){.relation = PKBPF_RELATION_SCRIPT,
							       .pid = writer->pids[i],
							       .count = 1,
							       .text = script});
	}
}
