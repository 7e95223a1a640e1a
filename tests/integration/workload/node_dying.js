// SPDX-License-Identifier: BSD-2-Clause
// Functions that live for one round only, while collections give their memory to others. Both functions of a round have its
// number in their names.
// usage: node node_dying.js SECONDS
"use strict";

require("v8").setFlagsFromString("--expose-gc");
const collect = require("vm").runInNewContext("gc");
const end = Date.now() + 1000 * Number(process.argv[2]);

// However little of the time the program has a CPU.
const ROUNDS = 500;

for (let round = 0; round < ROUNDS || Date.now() < end; round++) {
  const run = new Function(`
    function inner_${round}(n) { let sum = 0; for (let i = 0; i < n; i++) sum = (sum + i * i) | 0; return sum; }
    return function outer_${round}(n) { let sum = 0; for (let i = 0; i < 20; i++) sum += inner_${round}(n); return sum; };`)();
  run(20000);
  if (round % 10 === 9) collect();
}
