"use strict";

// What a server lists, in process, against the committed baseline. Nothing of this starts a server or opens a connection.

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { locate } = require("./binary.js");

const PIN = "MCP_KEEL_PIN=1";

// As `mcp-keel check` opens a connection, so that a server lists the same.
const OPENING = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {}, roots: {}, sampling: {} },
  clientInfo: { name: "mcp-keel", version: "1" },
};

const LISTS = [
  { member: "tools", method: "tools/list", call: "listTools", capability: "tools" },
  { member: "prompts", method: "prompts/list", call: "listPrompts", capability: "prompts" },
  { member: "resources", method: "resources/list", call: "listResources", capability: "resources" },
  { member: "resourceTemplates", method: "resources/templates/list", call: "listResourceTemplates", capability: "resources" },
];

// What a client of the SDK keeps of a definition; the rest of what was sent it throws away.
const KEPT = {
  tools: ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution", "icons", "_meta"],
  prompts: ["name", "title", "description", "arguments", "icons", "_meta"],
  resources: ["uri", "name", "title", "description", "mimeType", "annotations", "icons", "_meta"],
  resourceTemplates: ["uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta"],
};

const OF_SERVER = ["server/serverInfo", "server/capabilities", "server/instructions"];

// More pages than this are a list that does not end.
const MOST_PAGES = 1000;

const METHOD_NOT_FOUND = -32601;

function isFunction(value) {
  return typeof value === "function";
}

/** What a server lists, as a document that `mcp-keel check --capture -` reads. */
async function capture(server) {
  if (Array.isArray(server)) return server;
  if (server === null || typeof server !== "object") throw notAServer(server);
  if (isFunction(server.listTools) && isFunction(server.getServerCapabilities)) return ofClient(server);
  const inner = server.server && isFunction(server.server.connect) ? server.server : server;
  if (isFunction(inner.connect) && isFunction(inner.setRequestHandler)) return ofServer(server, inner);
  // The answer to `tools/list`, or another document that mcp-keel reads.
  if (!isFunction(inner.connect)) return server;
  throw notAServer(server);
}

function notAServer(value) {
  const name = value?.constructor?.name ?? String(value);
  return new TypeError(`${name} is no McpServer or Server of the TypeScript SDK, no client and no list of tools`);
}

/** The lists of a server, page by page, through `ask(method, params)`. */
async function lists(capabilities, ask) {
  const found = {};
  for (const { member, method, capability } of LISTS) {
    found[member] = [];
    if (!capabilities[capability]) continue;
    let cursor;
    for (let page = 0; ; page += 1) {
      if (page === MOST_PAGES) throw new Error(`${method} has more than ${MOST_PAGES} pages`);
      let answer;
      try {
        answer = await ask(method, cursor === undefined ? {} : { cursor });
      } catch (error) {
        if (error.code === METHOD_NOT_FOUND) break;
        throw error;
      }
      found[member].push(...(answer[member] ?? []));
      cursor = answer.nextCursor;
      if (!cursor) break;
    }
  }
  return found;
}

/** A server that is not connected: asked over a transport of our own, which keeps what is sent as it is. */
async function ofServer(server, inner) {
  if (inner.transport) {
    throw new Error("the server is connected already: hand over the client that it is connected to, or a server that is not");
  }
  const transport = new Direct();
  await server.connect(transport);
  try {
    const greeting = await transport.ask("initialize", OPENING);
    transport.deliver({ jsonrpc: "2.0", method: "notifications/initialized" });
    const found = await lists(greeting.capabilities ?? {}, (method, params) => transport.ask(method, params));
    const { serverInfo, capabilities, instructions } = greeting;
    const observed = [...OF_SERVER, ...LISTS.map(({ member }) => member)];
    return { captureVersion: 1, initialize: { serverInfo, capabilities, instructions }, ...found, observed };
  } finally {
    await server.close();
  }
}

/** One end of a connection, whose other end is this module. */
class Direct {
  #waiting = new Map();
  #last = 0;

  async start() {}

  async send(message) {
    const waiting = this.#waiting.get(message.id);
    if (waiting && ("result" in message || "error" in message)) {
      this.#waiting.delete(message.id);
      // As a client at the other end of a pipe gets it.
      waiting(JSON.parse(JSON.stringify(message)));
    } else if ("method" in message && "id" in message) {
      this.deliver({ jsonrpc: "2.0", id: message.id, error: { code: METHOD_NOT_FOUND, message: "a test answers nothing" } });
    }
  }

  async close() {
    this.onclose?.();
  }

  deliver(message) {
    queueMicrotask(() => this.onmessage?.(message));
  }

  async ask(method, params) {
    const id = (this.#last += 1);
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.deliver({ jsonrpc: "2.0", id, method, params });
    const { result, error } = await answered;
    if (error) throw Object.assign(new Error(`${method}: ${error.message}`), { code: error.code });
    return result;
  }
}

/** A client that is connected. */
async function ofClient(client) {
  const capabilities = client.getServerCapabilities();
  if (!capabilities) throw new Error("the client is not connected");
  const found = await lists(capabilities, (method, params) => {
    const { call } = LISTS.find((list) => list.method === method);
    return client[call](params);
  });
  const initialize = { serverInfo: client.getServerVersion(), capabilities, instructions: client.getInstructions() };
  const kept = LISTS.flatMap(({ member }) => KEPT[member].map((name) => `${member}/${name}`));
  return { captureVersion: 1, initialize, ...found, observed: [...OF_SERVER, ...kept] };
}

function isOn(variable) {
  return !["", "0", "false", "no"].includes((process.env[variable] ?? "").toLowerCase());
}

/** Where mcp-keel.toml and the baseline are: the nearest folder above a test that has one of them, within the repository. */
function folderOf(testPath) {
  let folder = testPath ? path.dirname(testPath) : process.cwd();
  for (;;) {
    const has = (name) => fs.existsSync(path.join(folder, name));
    if (has("mcp-keel.toml") || has("mcp-baseline.json")) return folder;
    const above = path.dirname(folder);
    if (has(".git") || above === folder) return process.cwd();
    folder = above;
  }
}

/** Compares, or pins. Returns whether it holds, and what mcp-keel said. */
async function compare(server, name, testPath) {
  const pins = isOn("MCP_KEEL_PIN");
  const isForced = process.env.MCP_KEEL_PIN === "force";
  if (pins && isOn("CI") && !isForced) {
    const why = "pins nothing in CI, where nobody reviews it: pin on your machine and commit the baseline, or set MCP_KEEL_PIN=force";
    return { holds: false, said: `mcp-keel ${why}` };
  }
  const input = JSON.stringify(await capture(server));
  const args = [pins ? "pin" : "check", "--capture", "-", "--color", "never", "--pin-with", `${PIN} npm test`];
  if (isForced) args.push("--yes");
  if (name !== undefined) args.push(name);
  const done = spawnSync(locate(), args, { cwd: folderOf(testPath), input, maxBuffer: 1 << 26 });
  if (done.error) throw done.error;
  return { holds: done.status === 0, said: `${done.stdout}${done.stderr}`.trimEnd() };
}

/** The matcher for `expect.extend`. */
async function toMatchContract(server, name) {
  if (this.isNot) throw new Error("a contract that does not match is no promise: toMatchContract has no .not");
  const { holds, said } = await compare(server, name, this.testPath);
  return { pass: holds, message: () => said };
}

/** The same without `expect`. */
async function checkContract(server, name, testPath) {
  const { holds, said } = await compare(server, name, testPath);
  if (!holds) {
    const error = new Error(said);
    error.name = "ContractError";
    Error.captureStackTrace(error, checkContract);
    throw error;
  }
}

exports.toMatchContract = toMatchContract;
exports.checkContract = checkContract;
