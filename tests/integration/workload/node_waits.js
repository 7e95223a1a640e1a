// SPDX-License-Identifier: BSD-2-Clause
// Functions that wait, count it and measure how long.
// usage: node node_waits.js SECONDS TIMES.json
"use strict";

const fs = require("fs");

const cell = new Int32Array(new SharedArrayBuffer(4));
const waited = { waitsShort: { ms: 5, count: 0, seconds: 0 }, waitsLong: { ms: 20, count: 0, seconds: 0 } };

function measured(name, wait) {
  const begin = process.hrtime.bigint();
  wait();
  waited[name].seconds += Number(process.hrtime.bigint() - begin) / 1e9;
  waited[name].count++;
}
function pause(ms) { Atomics.wait(cell, 0, 0, ms); }
function waitsShort() { pause(waited.waitsShort.ms); }
function waitsLong() { pause(waited.waitsLong.ms); }

// The tables of the process may be late for the first waits.
const warm = Date.now() + 1000;
while (Date.now() < warm) pause(1);
const end = Date.now() + 1000 * Number(process.argv[2]);
while (Date.now() < end) {
  measured("waitsShort", waitsShort);
  measured("waitsLong", waitsLong);
}
fs.writeFileSync(process.argv[3], JSON.stringify(waited));
