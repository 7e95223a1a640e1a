# SPDX-License-Identifier: BSD-2-Clause
# Ways in which Ruby methods come to run, each over and over for some seconds of CPU time.
#
# usage: ruby_scenarios.rb SECONDS CHAINS.json
#
# Each scenario ends in a method of its own, whose callers the program asks the interpreter for: CHAINS.json says, for the
# name of each last method, the lines on which it burns and its callers from the outermost, as [label, file, line]. The
# interpreter's labels have no classes; NAMES has those of some scenarios as they are written in Ruby 3.4.
require "erb"
require "fiber"
require "json"
require "set"
require "tempfile"

BURN = 0.004
EXPECTED = {}
NOW = Process::CLOCK_THREAD_CPUTIME_ID
METHODS_OF_BLOCKS = {}

# Methods that define_method made have the label of their block.
def label_of(location)
  METHODS_OF_BLOCKS[[location.path, location.label]] || location.label
end

def note_chain(name, lines)
  chain = caller_locations(2).reverse.map { |at| [label_of(at), File.basename(at.path || ""), at.lineno || 0] }
  chains = (EXPECTED[name] ||= {"lines" => lines, "chains" => []})["chains"]
  chains << chain unless chains.include?(chain)
end

SCENARIOS = []

# A method of this name that burns, and notes what called it.
def scenario(name)
  line = __LINE__ + 1
  Object.class_eval(<<~CODE, __FILE__, line + 1)
    def burn_#{name}(*ignored)
      note_chain("burn_#{name}", #{(line + 1..line + 7).to_a})
      finish = Process.clock_gettime(NOW) + BURN
      while Process.clock_gettime(NOW) < finish
      end
      1
    end
  CODE
  SCENARIOS << method(name)
end

def recursion(depth = 30)
  depth > 0 ? recursion(depth - 1) : burn_recursion
end
scenario :recursion

def block_of_each = [1].each { |x| burn_block_of_each(x) }
scenario :block_of_each

def nested_blocks
  {a: [1]}.each do |_, list|
    list.map do |x|
      1.upto(1) { burn_nested_blocks(x) }
    end
  end
end
scenario :nested_blocks

def sorting = [2, 1].sort_by { |x| burn_sorting(x) }
scenario :sorting

def comparing = [2, 1, 3].sort { |a, b| burn_comparing + a - b }
scenario :comparing

class Value
  include Comparable
  def initialize(number) = @number = number
  attr_reader :number
  def <=>(other)
    burn_operator
    number <=> other.number
  end
end

def operator = [Value.new(1), Value.new(2)].max
scenario :operator

module Shop
  class Cart
    class << self
      def open = new.add(1)
    end
    def add(item) = price(item)
    private def price(item) = Tax.on(item)
  end
  module Tax
    def self.on(item) = burn_classes(item)
  end
end

def classes = Shop::Cart.open
scenario :classes

module Greeting
  def greet = burn_mixin
end
class Person
  include Greeting
end
class Friend < Person
  def greet = super
end
class Close < Friend
  def greet
    super()
  end
end

def mixin = Close.new.greet
scenario :mixin

class Dynamic
  define_method(:dynamic_call) do
    burn_defined
  end
  METHODS_OF_BLOCKS[[__FILE__, "block in <class:Dynamic>"]] = "dynamic_call"
  def method_missing(name, ...) = name == :ghost ? burn_missing(...) : super
  def respond_to_missing?(...) = true
end

def defined = Dynamic.new.dynamic_call
scenario :defined

def missing = Dynamic.new.ghost
scenario :missing

def sending = Dynamic.new.public_send(:tap) { |o| o.instance_eval { burn_sending } }
scenario :sending

def rescuing
  raise ArgumentError, "x"
rescue ArgumentError
  burn_rescuing
end
scenario :rescuing

def ensuring
  [1].each { return 1 }
ensure
  burn_ensuring
end
scenario :ensuring

def catching
  catch(:done) { [1].each { throw :done, burn_catching } }
end
scenario :catching

def retrying
  tries = 0
  begin
    tries += 1
    raise "again" if tries < 3
    burn_retrying
  rescue RuntimeError
    retry
  end
end
scenario :retrying

def evaluated = eval("[1].each { burn_evaluated }", binding, "evaluated.rb", 7)
scenario :evaluated

def in_thread = Thread.new { burn_in_thread }.join
scenario :in_thread

def in_fiber
  fiber = Fiber.new do
    Fiber.yield 1
    burn_in_fiber
  end
  fiber.resume
  fiber.resume
end
scenario :in_fiber

def enumerator
  Enumerator.new { |y| y << burn_enumerator }.next
end
scenario :enumerator

def lazily = (1..).lazy.map { |x| burn_lazily + x }.first(1)
scenario :lazily

def lambdas
  first = ->(x) { burn_lambdas(x) }
  (first >> ->(x) { x }).call(1)
end
scenario :lambdas

def symbol_block = [self].each(&:burn_symbol_block)
scenario :symbol_block

def method_object = [1].map(&method(:burn_method_object))
scenario :method_object

def replacing = "aXb".gsub("X") { burn_replacing.to_s }
scenario :replacing

def folding = [1, 2].inject { |a, b| burn_folding + a + b }
scenario :folding

def hash_default = Hash.new { |hash, key| hash[key] = burn_hash_default }[1]
scenario :hash_default

class Text
  def to_s = "#{burn_interpolated}"
end

def interpolated = "a #{Text.new} b"
scenario :interpolated

class Plain
  def to_json(*) = burn_generating.to_s
end

def generating = JSON.generate([Plain.new])
scenario :generating

TEMPLATE = ERB.new("<% [1].each do |x| %>\n<b><%= burn_templated(x) %></b>\n<% end %>\n")
TEMPLATE.filename = "page.erb"
def templated = TEMPLATE.result(binding)
scenario :templated

REQUIRED = Tempfile.new(["required", ".rb"])
REQUIRED.write("\n\nburn_required\n")
REQUIRED.close
def required = load(REQUIRED.path)
scenario :required

def at_a_loop
  loop do
    burn_at_a_loop
    break
  end
end
scenario :at_a_loop

def größe(x) = burn_unicode(x)
def unicode = größe(1)
scenario :unicode

Object.class_eval("def long_method\n x = 0\n" + " x += [1].sum\n" * 700 + " burn_long_method\nend\n", "long.rb", 1)
scenario :long_method

Object.class_eval("def huge_method\n x = 0\n" + " x += [1].sum\n" * 1500 + " burn_huge_method\nend\n", "huge.rb", 1)
scenario :huge_method

# As they stand in stacks, from the scenario on.
NAMES = {
  "burn_classes" => %w[Object#classes Shop::Cart.open Shop::Cart#add Shop::Cart#price Shop::Tax.on],
  "burn_mixin" => %w[Object#mixin Close#greet Friend#greet Greeting#greet],
  "burn_defined" => %w[Object#defined Dynamic#dynamic_call],
  "burn_missing" => %w[Object#missing Dynamic#method_missing],
  "burn_block_of_each" => ["Object#block_of_each", "Array#each", "block in Object#block_of_each"],
  "burn_rescuing" => ["Object#rescuing", "rescue in Object#rescuing"],
  "burn_sorting" => ["Object#sorting", "Enumerable#sort_by", "Array#each", "block in Object#sorting"],
  "burn_operator" => %w[Object#operator Value#<=>],
  "burn_unicode" => %w[Object#unicode Object#größe],
}

seconds = ARGV[0].to_f
finish = Process.clock_gettime(NOW) + seconds
SCENARIOS.each(&:call) while Process.clock_gettime(NOW) < finish
File.write(ARGV[1], JSON.generate("expected" => EXPECTED, "names" => NAMES))
