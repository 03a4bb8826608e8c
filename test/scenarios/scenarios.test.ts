import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import type { Json } from '#core/data/json';
import { transcript } from '../support/play.ts';
import { outline } from '../support/workflows.ts';

/**
 * Stories: `*.txt` beside this file. Each begins with two sentences on its subject and reason; then come the outline of
 * a workflow, perhaps an order, and the events. `UPDATE_TRANSCRIPTS=1` writes what the system does. Review the
 * difference, and keep it only if you understand its cause.
 */
const folder = new URL('.', import.meta.url);

for (const name of readdirSync(folder).filter((each) => each.endsWith('.txt'))) {
  const file = new URL(name, folder);
  const text = readFileSync(file, 'utf8');
  const { about, workflow, order, story } = parse(text);
  test(about.split('. ')[0] ?? name, () => {
    assert.match(about, /^(?:F-\d+|Signals).*\. .*\.$/, `${name} begins with two sentences`);
    const played = transcript(outline(workflow), story, { order });
    const actual = [text.slice(0, text.indexOf(story)), played, '\n'].join('');
    if (process.env['UPDATE_TRANSCRIPTS']) writeFileSync(file, actual);
    else assert.equal(actual, text, name);
  });
}

function parse(text: string): { about: string; workflow: string; order: Json; story: string } {
  const [heading = '', workflow = '', ...blocks] = text.split('\n\n');
  const about = heading.replace(/^# ?/gm, '').replaceAll('\n', ' ');
  const order = blocks[0]?.startsWith('order ') ? (JSON.parse(blocks.shift()?.slice('order '.length) ?? '') as Json) : {};
  return { about, workflow, order, story: blocks.join('\n\n') };
}
