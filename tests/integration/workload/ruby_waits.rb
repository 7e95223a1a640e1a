# SPDX-License-Identifier: BSD-2-Clause
# Waits in Ruby methods, with the time of each by the program's own clocks.
#
# usage: ruby_waits.rb SECONDS TIMES.json
#
# TIMES.json: for each method the seconds it has waited (its time without the CPU time of its thread), and the innermost
# method in which it waits.
require "json"

WAIT = 0.02
WAITED = Hash.new(0)
INNERMOST = {}
OURS, THEIRS = IO.pipe
LOCK = Mutex.new
ITEMS = Queue.new
TURNS = Queue.new

def now(clock) = Process.clock_gettime(clock)

def measured(name, innermost)
  plain = method(name)
  INNERMOST[name] = innermost
  define_method(name) do
    start, start_cpu = now(Process::CLOCK_MONOTONIC), now(Process::CLOCK_THREAD_CPUTIME_ID)
    plain.call
    WAITED[name] += now(Process::CLOCK_MONOTONIC) - start - (now(Process::CLOCK_THREAD_CPUTIME_ID) - start_cpu)
  end
end

def wait_sleep = sleep(WAIT)
measured :wait_sleep, "Kernel#sleep"

def wait_select = IO.select([OURS], nil, nil, WAIT)
measured :wait_select, "IO.select"

def wait_pipe = OURS.readpartial(1)
measured :wait_pipe, "IO#readpartial"

def wait_lock = LOCK.lock
measured :wait_lock, "Thread::Mutex#lock"

def wait_queue = ITEMS.pop
measured :wait_queue, "Thread::Queue#pop"

NAP = -> { sleep WAIT }
def wait_thread = Thread.new(&NAP).join
measured :wait_thread, "Thread#join"

def wait_fiber
  Fiber.new { [1].each { sleep WAIT } }.resume
end
measured :wait_fiber, "Kernel#sleep"

# Lets go what the other thread waits for, a while after it has begun to.
feeder = Thread.new do
  while (turn = TURNS.pop)
    sleep WAIT
    case turn
    when :pipe then THEIRS.write("x")
    when :queue then ITEMS << 1
    end
  end
end

HOLDER = Queue.new
holder = Thread.new do
  while HOLDER.pop
    LOCK.lock
    sleep WAIT
    LOCK.unlock
  end
end

finish = now(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
while now(Process::CLOCK_MONOTONIC) < finish
  wait_sleep
  wait_select
  TURNS << :pipe
  wait_pipe
  TURNS << :queue
  wait_queue
  wait_thread
  wait_fiber
  HOLDER << true
  Thread.pass until LOCK.locked?
  wait_lock
  LOCK.unlock
end
TURNS << nil
HOLDER << nil
[feeder, holder].each(&:join)
File.write(ARGV[1], JSON.generate("waited" => WAITED, "innermost" => INNERMOST))
