// Makes src/tokens/o200k_base.ranks from the ranks of js-tiktoken, as the header of src/tokens/ranks.rs describes it.
//
// usage: ranks.mjs FILE            FILE is the same
//        ranks.mjs FILE --write    FILE is written
import { readFileSync, writeFileSync } from 'node:fs';
import published from 'js-tiktoken/ranks/o200k_base';

const BLOCK = 20;
const [file, option] = process.argv.slice(2);

const tokens = published.bpe_ranks.split('\n').filter(Boolean).flatMap((line) => {
  const [, first, ...tokens] = line.split(' ');
  return tokens.map((token, at) => ({ bytes: Buffer.from(token, 'base64'), rank: Number(first) + at }));
});
tokens.sort((one, other) => Buffer.compare(one.bytes, other.bytes));

const heads = [];
const lower = Buffer.alloc(tokens.length * 2);
const upper = Buffer.alloc(Math.ceil(tokens.length / 4));
const lengths = Buffer.alloc(tokens.length);
const own = [];
let written = 0;
let before = Buffer.alloc(0);
tokens.forEach(({ bytes, rank }, at) => {
  lower.writeUInt16LE(rank & 0xffff, at * 2);
  upper[at >> 2] |= (rank >> 16) << ((at & 3) * 2);
  if (at % BLOCK === 0) {
    before = Buffer.alloc(0);
    const head = Buffer.alloc(7);
    bytes.copy(head, 0, 0, 4);
    head.writeUIntLE(written, 4, 3);
    heads.push(head);
  }
  let shared = 0;
  while (shared < Math.min(bytes.length, before.length) && bytes[shared] === before[shared]) shared += 1;
  const rest = bytes.subarray(shared);
  const numbers = Buffer.from([shared, rest.length]);
  const isShort = Math.max(...numbers) < 15;
  lengths[at] = isShort ? (shared << 4) | rest.length : 255;
  if (!isShort) own.push(numbers);
  own.push(rest);
  written += rest.length + (isShort ? 0 : 2);
  before = bytes;
});

const made = Buffer.concat([...heads, lower, upper, lengths, ...own]);
if (option === '--write') {
  writeFileSync(file, made);
  console.log(`${tokens.length} tokens in ${made.length} bytes`);
} else if (!made.equals(readFileSync(file))) {
  console.error(`${file} differs from the published ranks: .ci/tokens --write`);
  process.exit(1);
}
