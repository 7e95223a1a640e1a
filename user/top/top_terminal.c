// SPDX-License-Identifier: BSD-2-Clause
/* The only file that knows ncurses. */
#include "top/top_terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <term.h>
/* A macro of that header, and a name of ours. */
#undef lines

#include "base/array.h"
#include "base/text_append.h"
#include "profile/slice/slice.h"
#include "top/terminal_names.h"

/* Slices that wait for a terminal; more are merged into the last of them. */
#define PENDING_MAX	4
#define ESCAPE_DELAY_MS 25
#define WIDTH_MAX	500
#define HEIGHT_MAX	300
#define END_SIZE	128

struct top_terminal {
	struct top *top;
	bool color;
	void (*quit)(void *context);
	void *context;

	pthread_t thread;
	int wake_fd;
	atomic_bool ends;
	pthread_mutex_t lock; /* of pending */
	struct profile *pending[PENDING_MAX];
	size_t pending_count;

	SCREEN *terminal;
	struct termios before;
	struct top_screen screen;
	int attributes[TOP_ATTRIBUTES];
	char end[END_SIZE]; /* what leaves the screen, for another thread */
};

/* ---- painting ---- */

static void choose_attributes(struct top_terminal *terminal)
{
	int *attributes = terminal->attributes;

	attributes[TOP_BOLD] = A_BOLD;
	attributes[TOP_DIM] = A_DIM;
	attributes[TOP_TITLE] = A_REVERSE;
	attributes[TOP_SORTED] = A_REVERSE | A_BOLD;
	attributes[TOP_CURSOR] = A_REVERSE;
	attributes[TOP_ALERT] = A_BOLD;
	if (!terminal->color || !has_colors() || start_color() == ERR ||
	    use_default_colors() == ERR)
		return;
	init_pair(1, COLOR_BLACK, COLOR_GREEN);
	init_pair(2, COLOR_BLACK, COLOR_CYAN);
	init_pair(3, COLOR_RED, -1);
	attributes[TOP_TITLE] = COLOR_PAIR(1);
	attributes[TOP_SORTED] = COLOR_PAIR(1) | A_BOLD | A_UNDERLINE;
	attributes[TOP_CURSOR] = COLOR_PAIR(2);
	attributes[TOP_ALERT] = COLOR_PAIR(3) | A_BOLD;
}

static void paint_line(const struct top_terminal *terminal, const struct top_line *line)
{
	size_t start = 0;

	while (start < line->bytes) {
		size_t end = start;

		while (end < line->bytes && line->attributes[end] == line->attributes[start])
			end++;
		attrset(terminal->attributes[line->attributes[start]]);
		addnstr(line->text + start, (int)(end - start));
		start = end;
	}
	attrset(A_NORMAL);
}

static bool fit_screen(struct top_terminal *terminal)
{
	struct winsize size;
	size_t width, height;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row &&
	    (size.ws_col != COLS || size.ws_row != LINES))
		resizeterm(size.ws_row, size.ws_col);
	width = COLS < WIDTH_MAX ? (size_t)COLS : WIDTH_MAX;
	height = LINES < HEIGHT_MAX ? (size_t)LINES : HEIGHT_MAX;
	if (terminal->screen.lines && terminal->screen.width == width &&
	    terminal->screen.height == height)
		return true;
	top_screen_done(&terminal->screen);
	return top_screen_init(&terminal->screen, width, height) == 0;
}

static void paint(struct top_terminal *terminal)
{
	if (!fit_screen(terminal) || top_draw(terminal->top, &terminal->screen) < 0)
		return;
	erase();
	for (size_t i = 0; i < terminal->screen.used && i < terminal->screen.height; i++) {
		move((int)i, 0);
		paint_line(terminal, &terminal->screen.lines[i]);
	}
	refresh();
}

/* ---- keys and slices ---- */

static int key_of(int key)
{
	static const struct {
		int theirs, ours;
	} keys[] = {
		{KEY_UP, TOP_KEY_UP},	      {KEY_DOWN, TOP_KEY_DOWN},
		{KEY_LEFT, TOP_KEY_LEFT},     {KEY_RIGHT, TOP_KEY_RIGHT},
		{KEY_PPAGE, TOP_KEY_PAGE_UP}, {KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},     {KEY_END, TOP_KEY_END},
		{KEY_ENTER, TOP_KEY_ENTER},   {'\n', TOP_KEY_ENTER},
		{'\r', TOP_KEY_ENTER},	      {0x1b, TOP_KEY_ESCAPE},
		{'\t', TOP_KEY_TAB},	      {KEY_BACKSPACE, TOP_KEY_BACKSPACE},
		{0x7f, TOP_KEY_BACKSPACE},    {'\b', TOP_KEY_BACKSPACE},
		{KEY_F(1), TOP_KEY_F1},	      {KEY_F(3), TOP_KEY_F3},
		{KEY_F(4), TOP_KEY_F4},	      {KEY_F(6), TOP_KEY_F6},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].theirs == key)
			return keys[i].ours;
	return key;
}

static struct profile *take_pending(struct top_terminal *terminal)
{
	struct profile *slice = NULL;

	pthread_mutex_lock(&terminal->lock);
	if (terminal->pending_count) {
		slice = terminal->pending[0];
		terminal->pending_count--;
		memmove(terminal->pending, terminal->pending + 1,
			terminal->pending_count * sizeof(*terminal->pending));
	}
	pthread_mutex_unlock(&terminal->lock);
	return slice;
}

/* false: the user wants to leave. */
static bool take_keys(struct top_terminal *terminal)
{
	int key;

	while ((key = getch()) != ERR) {
		if (key != KEY_RESIZE && !top_press(terminal->top, key_of(key)))
			return false;
		/* Keys that repeat are seen one by one. */
		paint(terminal);
	}
	return true;
}

static bool take_slices(struct top_terminal *terminal)
{
	struct profile *slice;
	bool any = false;

	while ((slice = take_pending(terminal))) {
		/* Without memory for all of it, there is less to see. */
		top_add_slice(terminal->top, slice);
		any = true;
	}
	return any;
}

static void *show(void *context)
{
	struct top_terminal *terminal = context;
	struct pollfd fds[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = terminal->wake_fd, .events = POLLIN},
	};
	bool wants_out = false;
	sigset_t set;

	/* Here, so that it ends the poll. */
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	paint(terminal);
	while (!atomic_load(&terminal->ends)) {
		eventfd_t count;
		bool resized = poll(fds, 2, -1) < 0;

		if (fds[1].revents && !resized)
			eventfd_read(terminal->wake_fd, &count);
		if (take_slices(terminal) || resized)
			paint(terminal);
		if (!wants_out && (!take_keys(terminal) ||
				   (!resized && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)))) {
			wants_out = true;
			fds[0].fd = -1;
			terminal->quit(terminal->context);
		}
	}
	return NULL;
}

/* ---- life ---- */

/* What leaves the screen: colors off, the last line, its own screen, a cursor. */
static void prepare_end(struct top_terminal *terminal)
{
	static const char *const names[] = {"sgr0", "rmcup", "cnorm", "rmkx"};

	terminal->end[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *text = tigetstr(names[i]);

		/* Not there, or no text. */
		if (!text || text == (const char *)-1)
			continue;
		/* Without delays for old terminals, "$<5>". */
		while (*text) {
			size_t length = strcspn(text, "$");

			text_append(terminal->end, sizeof(terminal->end), "%.*s", (int)length,
				    text);
			text += length;
			text += *text ? strcspn(text, ">") : 0;
			text += *text ? 1 : 0;
		}
	}
}

static SCREEN *open_described(const char *name)
{
	const char *known = terminal_names_describe(name);

	return known ? newterm(known, stdout, stdin) : NULL;
}

static int open_terminal(struct top_terminal *terminal, struct error *error)
{
	setlocale(LC_CTYPE, "");
	/* Under sudo the locale is often lost, and the terminal is the same. */
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
	tcgetattr(STDIN_FILENO, &terminal->before);
	terminal->terminal = newterm(NULL, stdout, stdin);
	if (!terminal->terminal)
		terminal->terminal = open_described(getenv("TERM"));
	if (!terminal->terminal)
		return error_set(error, ENOTSUP,
				 "cannot draw on this terminal (TERM=%s): it is unknown; use "
				 "--batch",
				 getenv("TERM") ? getenv("TERM") : "");
	prepare_end(terminal);
	set_escdelay(ESCAPE_DELAY_MS);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	choose_attributes(terminal);
	return 0;
}

struct top_terminal *top_terminal_new(struct top *top, bool color, void (*quit)(void *context),
				      void *context, struct error *error)
{
	struct top_terminal *terminal = calloc(1, sizeof(*terminal));
	int err;

	if (!terminal) {
		error_set(error, ENOMEM, "cannot draw on the terminal: out of memory");
		return NULL;
	}
	terminal->top = top;
	terminal->color = color;
	terminal->quit = quit;
	terminal->context = context;
	pthread_mutex_init(&terminal->lock, NULL);
	terminal->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (open_terminal(terminal, error) == 0) {
		err = terminal->wake_fd < 0
			      ? errno
			      : pthread_create(&terminal->thread, NULL, show, terminal);
		if (!err)
			return terminal;
		endwin();
		delscreen(terminal->terminal);
		error_set(error, err, "cannot draw on the terminal: %s", strerror(err));
	}
	if (terminal->wake_fd >= 0)
		close(terminal->wake_fd);
	free(terminal);
	return NULL;
}

int top_terminal_add(struct top_terminal *terminal, struct profile *slice)
{
	int err = 0;

	pthread_mutex_lock(&terminal->lock);
	if (terminal->pending_count < PENDING_MAX) {
		terminal->pending[terminal->pending_count++] = slice;
	} else {
		err = slice_merge(terminal->pending[PENDING_MAX - 1], slice);
		profile_free(slice);
	}
	pthread_mutex_unlock(&terminal->lock);
	eventfd_write(terminal->wake_fd, 1);
	return err;
}

/* The terminal's own thread may be in curses now: only what was prepared is written. */
static void write_end(const struct top_terminal *terminal)
{
	size_t length = strlen(terminal->end);

	for (size_t done = 0; done < length;) {
		ssize_t count = write(STDOUT_FILENO, terminal->end + done, length - done);

		if (count <= 0)
			return;
		done += (size_t)count;
	}
}

void top_terminal_abandon(struct top_terminal *terminal)
{
	write_end(terminal);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal->before);
}

void top_terminal_free(struct top_terminal *terminal)
{
	if (!terminal)
		return;
	atomic_store(&terminal->ends, true);
	eventfd_write(terminal->wake_fd, 1);
	pthread_join(terminal->thread, NULL);
	endwin();
	delscreen(terminal->terminal);
	for (size_t i = 0; i < terminal->pending_count; i++)
		profile_free(terminal->pending[i]);
	top_screen_done(&terminal->screen);
	pthread_mutex_destroy(&terminal->lock);
	close(terminal->wake_fd);
	free(terminal);
}
