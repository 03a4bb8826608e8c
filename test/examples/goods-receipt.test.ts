import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import app from '../../examples/goods-receipt/app.ts';
import { type RunningSystem, runningSystem } from '../cli/support.ts';
import { playTranscripts, standInFor, withoutTimes, wordsOf } from '../cli/transcripts.ts';

const page = new URL('../../docs/operations/goods-receipt.md', import.meta.url);
const samples = 'examples/goods-receipt/samples';

/** A person reads what other parts of the system write: the command is repeated until it prints that, or for this long. */
const patienceMs = 5000;
const isReading = (line: string) => / (get|list|show|dependents) /.test(`${line} `);

test('F-151, F-152: after the undo of a receipt of goods, the sales that have reserved from its lot get a message, and another sale gets none', async (context) => {
  const system = await runningSystem(app);
  context.after(() => system.stop());
  for (const file of readdirSync(samples).sort()) await system.redress(['order', 'submit', `${samples}/${file}`]);
  const named: Named = { names: new Map(), bodies: [] };
  await playTranscripts(page, undefined, (line, told) => played(line, told, system, named));
});

interface Named {
  /** The ids that lines of the page have named. */
  readonly names: Map<string, string>;
  /** The ids of all orders that the commands have printed, without their prefix, in their order. */
  readonly bodies: string[];
}

async function played(line: string, told: string, { redress }: RunningSystem, { names, bodies }: Named): Promise<string> {
  const [, name, command = line.slice('$ '.length)] = /^\$ (\w)=\$\((.*?)(?: \| .*)?\)$/.exec(line) ?? [];
  const words = wordsOf(command.replaceAll(/\$(\w)/g, (_, each: string) => names.get(each) ?? each)).slice(1);
  const [, prefix = 'ord'] = /grep -o '(\w+)_/.exec(line) ?? [];
  const print = async () => {
    const { out, err } = await redress(words);
    const [first = ''] = out.match(new RegExp(`${prefix}_\\w+`)) ?? [];
    for (const [body] of out.matchAll(/(?<=ord_)\w+/g)) if (!bodies.includes(body)) bodies.push(body);
    return { first, text: printed(`${out.trimEnd()}\n${err}`, bodies) };
  };
  let { first, text } = await print();
  for (const until = Date.now() + patienceMs; isReading(line) && name === undefined && text !== told && Date.now() < until; )
    ({ first, text } = await print());
  if (name === undefined) return text;
  names.set(name, first);
  return '';
}

const printed = (text: string, bodies: readonly string[]): string =>
  withoutTimes(bodies.reduce((each, body, index) => each.replaceAll(body, standInFor(index)), text));
