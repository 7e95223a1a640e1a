// SPDX-License-Identifier: BSD-2-Clause
// JavaScript functions that come to run in many ways. Each ends in a function of its own, which notes by V8's own stack traces
// what called it.
// usage: node node_scenarios.js SECONDS CHAINS.json
"use strict";

const fs = require("fs");
const vm = require("vm");
const { EventEmitter } = require("events");
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");

const chains = {};
Error.stackTraceLimit = 100;

function note(leaf) {
  const prepare = Error.prepareStackTrace;
  Error.prepareStackTrace = (error, sites) => sites;
  // Builtins have neither a file nor a source; who awaits a function does not call it.
  const sites = new Error().stack.slice(2).filter((site) => !site.isAsync() && (site.getFileName() || site.isEval()));
  Error.prepareStackTrace = prepare;
  const chain = sites.map((site) => [site.getFunctionName() || "(anonymous)", site.getFileName() || "", site.getLineNumber()]);
  const known = (chains[leaf] ||= []);
  const text = JSON.stringify(chain);
  if (!known.some((other) => JSON.stringify(other) === text)) known.push(chain);
}

// The function that samples are taken in, for each scenario another one.
function leafOf(name) {
  let rounds = 0;
  const made = vm.runInThisContext(
    `(function (note, seen) { return function spin_${name}(n) {
      if (seen()) note("spin_${name}");
      let sum = 0;
      for (let i = 0; i < n; i++) sum = (sum + Math.imul(i, i) + (sum >>> 3)) | 0;
      return sum;
    }; })`,
    { filename: "spin.js" },
  );
  // The first ones are called from elsewhere than the others.
  return made(note, () => rounds++ < 400 && (rounds <= 10 || rounds % 40 === 1));
}

const spin = {};
for (const name of ["plain", "inlined", "map", "sort", "reduce", "replace", "json", "from", "getter", "setter", "method", "private", "static",
  "constructor", "derived", "field", "generator", "awaited", "timer", "bound", "apply", "reflect", "proxy", "primitive", "iterator", "evaluated",
  "made", "context", "recursion", "locals", "emitter", "tagged", "closure", "worker"])
  spin[name] = leafOf(name);
const N = 20000;

function plain() { return plainOuter(); }
function plainOuter() {
  const a = 1;
  return a +
    plainInner();
}
function plainInner() { return spin.plain(N); }

function tiny(x) { return spin.inlined(x) + 1; }
function small(x) { return tiny(x) * 2; }
function inlined() {
  let sum = 0;
  for (let i = 0; i < 100; i++) sum = (sum + small(N / 100)) | 0;
  return sum;
}

class Base {
  field = spin.field(N);
  constructor() { this.made = spin.constructor_(N); }
  get size() { return spin.getter(N); }
  set size(value) { spin.setter(N); }
  method() { return spin.method(N); }
  #hidden() { return spin.private(N); }
  open() { return this.#hidden(); }
  static build() { return spin.static(N); }
  *[Symbol.iterator]() { yield spin.iterator(N); }
  [Symbol.toPrimitive]() { return spin.primitive(N); }
}
spin.constructor_ = spin.constructor;
class Derived extends Base {
  constructor() {
    super();
    this.more = spin.derived(N);
  }
}

function* generator() { yield 1; yield spin.generator(N); }
async function awaited() { await null; return spin.awaited(N); }
function bound(n) { return spin.bound(n); }
function applied(n) { return spin.apply(n); }
function reflected(n) { return spin.reflect(n); }
function recursion(depth) { return depth ? recursion(depth - 1) + 1 : spin.recursion(N); }
function tagged(strings, value) { return spin.tagged(value); }
function closure() { const inner = () => spin.closure(N); return inner(); }
const manyLocals = vm.runInThisContext(
  `(function (spin, N) { return function manyLocals() { ${Array.from({ length: 90 }, (_, i) => `let v${i} = ${i};`).join(" ")}
    const use = () => ${Array.from({ length: 90 }, (_, i) => `v${i}`).join(" + ")};
    return spin.locals(N) + use(); }; })`,
  { filename: "locals.js" },
)(spin, N);
const madeFunction = new Function("spin", "N", "return (function inMade() { return spin.made(N); })()");
const inContext = vm.runInNewContext("(function inContext(spin, N) { return spin.context(N); })", {}, { filename: "context.js" });
const emitter = new EventEmitter().on("event", function listener() { spin.emitter(N); });
const boundFunction = bound.bind(null, N);
const proxy = new Proxy({}, { get: function trap() { return spin.proxy(N); } });

function all() {
  plain();
  inlined();
  [1].map(function mapped() { return spin.map(N); });
  [2, 1].sort(function compare(a, b) { spin.sort(N); return a - b; });
  [1, 2].reduce(function reduced() { return spin.reduce(N); });
  "a".replace(/a/, function replaced() { return String(spin.replace(N)); });
  JSON.stringify({ toJSON: function toJson() { return spin.json(N); } });
  Array.from([1], function fromed() { return spin.from(N); });
  const derived = new Derived();
  derived.size = derived.size;
  derived.method();
  derived.open();
  Base.build();
  for (const value of derived) value;
  +derived;
  [...generator()];
  boundFunction();
  applied.apply(null, [N]);
  Reflect.apply(reflected, null, [N]);
  proxy.anything;
  (0, eval)("(function inEval(spin, N) { return spin.evaluated(N); })")(spin, N);
  madeFunction(spin, N);
  inContext(spin, N);
  recursion(5);
  manyLocals();
  emitter.emit("event");
  tagged`a${N}b`;
  closure();
}

function workerOuter() { return workerInner(); }
function workerInner() { return spin.worker(N); }

function timed() { spin.timer(N); }

// However little of the time the program has a CPU.
const PASSES = 400;
async function main(end) {
  for (let pass = 0; pass < PASSES || Date.now() < end; pass++) {
    all();
    await awaited();
    await new Promise((resolve) => setTimeout(function fired() { timed(); resolve(); }, 0));
  }
}

if (isMainThread) {
  const end = Date.now() + 1000 * Number(process.argv[2]);
  const worker = new Worker(__filename, { workerData: end });
  worker.on("message", (others) => {
    Object.assign(chains, others);
  });
  Promise.all([main(end), new Promise((resolve) => worker.on("exit", resolve))]).then(() => {
    fs.writeFileSync(process.argv[3], JSON.stringify(chains));
  });
} else {
  while (Date.now() < workerData) workerOuter();
  parentPort.postMessage(chains);
}
