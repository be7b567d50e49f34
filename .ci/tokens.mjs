// Compares mcp-keel's token counts with those of gpt-tokenizer and js-tiktoken.
//
// usage: tokens.mjs MCP_KEEL FOLDER [CAPTURES]
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { Tiktoken } from 'js-tiktoken/lite';
import ranks from 'js-tiktoken/ranks/o200k_base';

const LISTS = 200;
const [keel, folder, captures] = process.argv.slice(2);
const run = promisify(execFile);
const other = new Tiktoken(ranks);

// A number stays as it was written: JSON.parse would turn 1.0 into 1.
const MARK = '\u0001number:';
const parse = (text) =>
  JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (it) =>
    it.startsWith('"') || String(Number(it)) === it ? it : JSON.stringify(MARK + it)));
const write = (value) =>
  JSON.stringify(value).replace(/"\\u0001number:([^"]*)"/g, '$1');

// The same every time: a small generator with a fixed seed.
let state = 20261117;
const next = (below) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
};
const WORDS = ['get', 'list', "user's", 'forecast', 'naïve', '東京', 'Привет', 'مرحبا', '12345', '3.14', '\n\n', '  ', '\t',
  "DON'T", 'https://a.example/x?y=1', '`code`', '🙂', 'e\u0301', '<|endoftext|>', '---', '\u2028', 'camelCaseName', 'SNAKE_CASE',
  'supercalifragilistic', '\\d+', '"quoted"', '한국어', 'ไทย', '   \n  x'];
const words = (most) => Array.from({ length: 1 + next(most) }, () => WORDS[next(WORDS.length)]).join(next(3) ? ' ' : '');
const schema = (depth) => {
  const properties = {};
  for (let at = next(5); at >= 0; at--) {
    properties[words(2)] = depth && next(3) === 0 ? schema(depth - 1)
      : { type: ['string', 'integer', 'boolean'][next(3)], description: words(12), maximum: next(100000) / 8 };
  }
  return { type: 'object', properties, required: Object.keys(properties).slice(0, 2) };
};
const generated = (at) => ({
  tools: Array.from({ length: 1 + next(12) }, (_, tool) =>
    ({ name: `tool_${at}_${tool}`, description: words(60), inputSchema: schema(2) })),
});

const lists = [];
if (captures) {
  for (const file of readdirSync(captures).filter((it) => it.endsWith('.json')).sort()) {
    if (lists.length === LISTS) break;
    lists.push([file, readFileSync(join(captures, file), 'utf8')]);
  }
}
const real = lists.length;
while (lists.length < LISTS) lists.push([`generated ${lists.length}`, JSON.stringify(generated(lists.length))]);

let tools = 0;
let tokens = 0;
let slow = 0;
const wrong = [];
for (const [name, text] of lists) {
  const list = parse(text);
  const path = join(folder, 'list.json');
  writeFileSync(path, JSON.stringify({ tools: [] }));
  const source = join(folder, 'source.json');
  writeFileSync(source, text);
  const { stdout } = await run(keel, ['diff', '--format', 'json', '--enforcement', 'audit', path, source], { maxBuffer: 1 << 28 })
    .catch((error) => { throw new Error(`${name}: ${error.stderr || error}`); });
  const { cost } = JSON.parse(stdout).servers[0];
  const found = new Map(cost.tools.map((it) => [it.component, it.currentTokens]));
  let sum = 0;
  for (const tool of list.tools) {
    const counted = {};
    for (const member of ['name', 'description', 'inputSchema']) if (member in tool) counted[member] = tool[member];
    const written = write(counted);
    const expected = encode(written, { disallowedSpecial: new Set() }).length;
    // js-tiktoken is slow: every tenth tool.
    if (tools % 10 === 0 && written.length < 20000) {
      slow += 1;
      const second = other.encode(written, [], []).length;
      if (second !== expected) wrong.push(`${name}: ${tool.name}: gpt-tokenizer ${expected}, js-tiktoken ${second}`);
    }
    const version = tool._meta?.fastmcp?.version ?? tool._meta?._fastmcp?.version ?? '';
    const actual = found.get(`tool:${tool.name}@${version}`);
    if (actual !== expected) wrong.push(`${name}: ${tool.name}: expected ${expected}, found ${actual}`);
    sum += expected;
    tools += 1;
  }
  if (cost.currentTokens !== sum) wrong.push(`${name}: expected ${sum} in all, found ${cost.currentTokens}`);
  if (cost.tokenizer !== 'o200k_base') wrong.push(`${name}: ${cost.tokenizer}`);
  tokens += sum;
}
console.log(wrong.slice(0, 20).join('\n'));
console.log(`${lists.length} lists (${real} captured), ${tools} tools, ${tokens} tokens; ${slow} tools also by js-tiktoken; ${wrong.length} differences`);
process.exit(wrong.length || tools < LISTS ? 1 : 0);
