// SPDX-License-Identifier: BSD-2-Clause
// Lists and calls every tool by the reference client. usage: mcp_sdk_check.mjs PKBPF BASE.pkbpf MORE.pkbpf
import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {StdioClientTransport} from "@modelcontextprotocol/sdk/client/stdio.js";

const [pkbpf, base, more] = process.argv.slice(2), BYTES = 2000 * 3;
let failures = 0;
const check = (good, text) => {
	console.log((good ? "ok: " : "FAILED: ") + text);
	failures += !good;
};
// What each is asked; a series is of a history, which a recording is not.
const ASKED = {findings: {source: more}, functions: {source: more, kind: "cpu"}, function: {source: more, name: "spin_here"}, lines: {source: more}, processes: {source: more}, regions: {source: more},
	diff: {source: more, base}, machine: {source: more}, series: {source: more}, sources: {}, profile: {pid: process.pid, seconds: 1}};
const MAY_FAIL = new Set(["series"]);

const client = new Client({name: "test", version: "1"}), transport = new StdioClientTransport({command: pkbpf, args: ["mcp", "--allow-profile", base, more]});
await client.connect(transport);
check(client.getServerVersion().name === "pkbpf", `server ${JSON.stringify(client.getServerVersion())}`);
const {tools} = await client.listTools(), names = tools.map(tool => tool.name).sort();
check(names.join() === Object.keys(ASKED).sort().join(), `tools: ${names.join(", ")}`);
check(tools.every(tool => tool.description && tool.inputSchema.type === "object"), "each has a description and a schema");
for (const name of names) {
	// The client holds the answer against the schema of answers itself.
	const answer = await client.callTool({name, arguments: ASKED[name] || {}}, undefined, {timeout: 120000}), text = answer.content[0].text;
	check(MAY_FAIL.has(name) || !answer.isError, `${name}: ${text.split("\n")[0].slice(0, 120)}`);
	check(Buffer.byteLength(text) <= BYTES, `${name}: ${Buffer.byteLength(text)} bytes`);
}
const refused = await client.callTool({name: "no_such_tool", arguments: {}}).then(answer => answer.isError, error => error.code < 0);
check(refused, "an unknown tool is an error of the protocol");
await client.close();
process.exit(failures ? 1 : 0);
