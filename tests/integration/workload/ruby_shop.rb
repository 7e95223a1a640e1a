# SPDX-License-Identifier: BSD-2-Clause
# A web application in small: a server, a router, controllers, models, templates and JSON, which counts the CPU time of its
# own methods.
#
# usage: ruby_shop.rb SECONDS (of CPU time) TIMES.json
#
# TIMES.json: seconds of CPU time in each counted method and what it calls ("total"), and without other counted ones ("self").
require "erb"
require "json"
require "socket"

NOW = Process::CLOCK_THREAD_CPUTIME_ID
TOTAL = Hash.new(0)
SELF = Hash.new(0)
RUNNING = []

# Counts a method from outside.
module Counted
  def counted(name)
    owner, label = self, "#{is_a?(Class) ? self : self.name}##{name}"
    plain = instance_method(name)
    define_method(name) do |*arguments|
      start = Process.clock_gettime(NOW)
      RUNNING << 0.0
      begin
        plain.bind_call(self, *arguments)
      ensure
        spent = Process.clock_gettime(NOW) - start
        inner = RUNNING.pop
        RUNNING[-1] += spent unless RUNNING.empty?
        TOTAL[label] += spent
        SELF[label] += spent - inner
      end
    end
    owner
  end
end
Class.include(Counted)
Module.include(Counted)

module Shop
  Item = Struct.new(:id, :name, :price)
  ITEMS = (1..120).map { |id| Item.new(id, "item #{id}", (id * 37) % 101) }

  class Search
    def find(text) = ITEMS.select { |item| item.name.include?(text) }.sort_by { |item| [-item.price, item.name] }
    counted :find
  end

  class Pages
    LIST = ERB.new(<<~HTML, trim_mode: "-")
      <ul>
      <%- items.each do |item| -%>
      <li><%= ERB::Util.html_escape(item.name) %>: <%= format("%.2f", item.price) %></li>
      <%- end -%>
      </ul>
    HTML
    LIST.def_method(self, "list(items)", "list.erb")
    counted :list
  end

  module Feed
    def feed(items) = JSON.generate(items.map { |item| {id: item.id, name: item.name, price: item.price} })
    counted :feed
  end

  class Controller
    include Feed
    def index(words) = Pages.new.list(Search.new.find(words))
    def api(words) = feed(Search.new.find(words))
    def count(words)
      sum = 0
      6000.times { |i| sum += i ^ words.size }
      sum.to_s
    end
    counted :index
    counted :api
    counted :count
  end

  class Router
    ROUTES = {%r{\A/list/(\w+)} => :index, %r{\A/api/(\w+)} => :api, %r{\A/count/(\w+)} => :count}.freeze
    def call(path)
      ROUTES.each { |pattern, action| return Controller.new.public_send(action, $1) if pattern.match(path) }
      "404"
    end
    counted :call
  end
end

server = TCPServer.new("127.0.0.1", 0)
client = Process.fork do
  server_port = server.addr[1]
  paths = %w[/list/item /api/item /count/item /list/1 /nothing]
  loop do
    paths.each do |path|
      socket = TCPSocket.new("127.0.0.1", server_port)
      socket.write("GET #{path} HTTP/1.0\r\n\r\n")
      socket.read
      socket.close
    end
  end
rescue SystemCallError
  exit!
end
router = Shop::Router.new
start = Process.clock_gettime(NOW)
while Process.clock_gettime(NOW) - start < ARGV[0].to_f
  socket = server.accept
  path = socket.gets.split[1]
  socket.gets
  body = router.call(path)
  socket.write("HTTP/1.0 200 OK\r\ncontent-length: #{body.bytesize}\r\n\r\n", body)
  socket.close
end
Process.kill(:KILL, client)
server.close
File.write(ARGV[1], JSON.generate("total" => TOTAL, "self" => SELF, "all" => Process.clock_gettime(NOW) - start))
