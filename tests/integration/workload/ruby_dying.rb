# SPDX-License-Identifier: BSD-2-Clause
# Methods with a number in their names that are made, run for a moment and dropped, so that the next ones take their places
# in memory.
#
# usage: ruby_dying.rb SECONDS (of CPU time)
TEXT = <<~RUBY
  def inner_%1$d
    finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.001
    while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
    end
  end
  def outer_%1$d
    inner_%1$d
  end
RUBY

number = 0
while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < ARGV[0].to_f
  made = Module.new
  made.extend(made)
  made.module_eval(format(TEXT, number), "dying.rb", 1)
  made.send("outer_#{number}")
  number += 1
  GC.start if number % 16 == 0
end
