# SPDX-License-Identifier: BSD-2-Clause
# Are folded stacks that end in bottom() whole and in order? awk -v depth=N [-v rooted=1] [-v least=N] [-v unlinked=1] [-v samples=N]
# rooted: they must begin at _start; least: so many calls of descend() are enough, when the walk has a limit.
# Up to a tenth may be of the time before the tables of a file were built: everything is slow here.
# unlinked: the caller of a function interrupted at its first instruction, before it links its frame, may be missing.
BEGIN {
	FS = ";"
	if (least == "")
		least = depth
}

{
	line = $0
	count = line
	sub(/.* /, "", count)
	sub(/ [0-9]*$/, "", line)
	frames = split(line, frame, ";")
	begin = calls = ended = stray = start = 0
	for (i = 2; i <= frames; i++) {
		name = frame[i]
		if (name == "_start")
			start = 1
		else if (name == "main")
			begin = i
		else if (name == "descend") {
			# Nothing may stand between main and the calls, nor between two of them.
			if (calls && frame[i - 1] != "descend" || !calls && begin && frame[i - 1] != "main")
				stray = 1
			calls++
		} else if (name == "bottom") {
			ended = frame[i - 1] == "descend"
			break
		}
	}
	if (i > frames)
		next
	total += count
	if (index(line, "[truncated: unwind table not ready]")) {
		late += count
		next
	}
	if (calls >= least - unlinked && calls <= depth && ended && !stray && (least < depth || begin) && (!rooted || start))
		right += count
	else if (wrong == "")
		wrong = calls " calls: " substr($0, 1, 200)
}

END {
	printf "%d of %d samples whole and in order\n", right, total
	if (late)
		print "  before tables were ready: " late
	if (wrong != "")
		print "  first other: " wrong
	exit !(total >= samples && right + late == total && late <= total / 10)
}
