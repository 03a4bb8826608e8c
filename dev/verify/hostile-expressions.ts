import * as fc from 'fast-check';
import type { Json } from '#core/data/json';
import { parseExpression } from '#core/definition/expression';
import { resultCharactersMax, stepsMax, stepsTaken } from '#core/definition/expression-budget';
import { type Figure, measured } from './figure.ts';

const forms = { full: 10_000, short: 400 } as const;

/** The largest order of a client, and an output of an agent, with the texts on which searches and patterns take longest. */
const rows = Array.from({ length: 500 }, (_, number) => ({ sku: `${'abcx'.repeat(25)}${number}`, note: 'n'.repeat(300), number }));
const wide = Object.fromEntries(Array.from({ length: 900 }, (_, number) => [`field${number}`, number]));
const order = {
  rows,
  wide,
  texts: rows.map(({ note }) => note),
  needle: `${'a'.repeat(511)}b${'a'.repeat(512)}`,
  at: '2026-01-01T00:00:00Z',
};
const scope = { orderId: 'ord_x', order: order as unknown as Json, steps: { document: { text: 'a'.repeat(200_000) } } };

const texts = [
  'r.sku',
  'r.note',
  'order.needle',
  'steps.document.text',
  'order.texts.join("")',
  'string(r.number)',
  '"\\u0000"',
  'orderId',
];
const patterns = [
  '(a|b|c|x){1000}.*',
  '(a+)+$',
  '(a*)*b',
  '([a-z]+)+',
  '((a{1,100}){1,10})',
  '^(.*)*$',
  '(?:a?){100}a{100}',
  '\\\\p{L}+',
  '(',
  '[^x]*[^y]*[^z]*',
];
const values = [
  'order',
  'order.rows',
  'order.wide',
  'order.texts',
  'r',
  '[order.rows, order.rows]',
  '{"a": order.rows}',
  'null',
  '0.0 / 0.0',
  '-0.0',
];
const strange = [
  'constructor',
  '__proto__',
  'order.constructor.constructor("return 1")()',
  'order["__proto__"]',
  'r.toString()',
  'order.rows[1e9]',
  'order.at.json()',
];

const text = fc.constantFrom(...texts);
const value = fc.constantFrom(...values);
const pattern = fc.constantFrom(...patterns).map((each) => JSON.stringify(each.replaceAll('\\\\', '\\')));

const condition = fc.oneof(
  fc.tuple(text, pattern).map(([one, other]) => `like(${one}, ${other})`),
  fc.tuple(text, fc.constantFrom('contains', 'startsWith', 'endsWith'), text).map(([one, name, other]) => `${one}.${name}(${other})`),
  fc.tuple(text, fc.constantFrom('indexOf', 'lastIndexOf'), text).map(([one, name, other]) => `${one}.${name}(${other}) > 3`),
  fc.tuple(text, text).map(([one, other]) => `(${one} + ${other}).size() > 3`),
  fc.tuple(value, fc.constantFrom('==', '!=', 'in'), value).map((parts) => parts.join(' ')),
  fc.tuple(text, text).map(([one, other]) => `${one}.split(${other}).size() > 3`),
  fc.tuple(text, fc.constantFrom('trim', 'lowerAscii', 'upperAscii')).map(([one, name]) => `${one}.${name}() == ${one}`),
  text.map((each) => `bytes(${each}) == b""`),
  text.map((each) => `double(${each}) > 1.0`),
  fc.constantFrom('getHours', 'getDayOfYear', 'getFullYear').map((name) => `timestamp(order.at).${name}("America/New_York") > 3`),
  fc.constantFrom(...strange).map((each) => `${each} == null`),
);
const several = fc
  .tuple(fc.array(condition, { minLength: 1, maxLength: 6 }), fc.constantFrom(' || ', ' && '))
  .map(([all, by]) => all.join(by));
const list = fc.constantFrom(
  'order.rows',
  'order.texts',
  'order.wide',
  '[order.rows, order.texts]',
  'order.rows.map(r, order.rows)',
  '"x"',
);

const expression = fc.oneof(
  fc
    .tuple(list, fc.constantFrom('filter', 'all', 'exists', 'exists_one', 'map'), several)
    .map(([of, name, body]) => `${of}.${name}(r, ${body})`),
  fc.tuple(list, value).map(([of, body]) => `${of}.map(r, ${body})`),
  fc.tuple(list, text, text).map(([of, one, other]) => `${of}.map(r, ${one} + ${other}).join(",")`),
  fc.tuple(list, list, several).map(([of, inner, body]) => `${of}.map(x, ${inner}.filter(r, ${body}))`),
  fc.array(text, { minLength: 2, maxLength: 90 }).map((all) => all.join(' + ').replaceAll('r.', 'order.rows[0].')),
  fc.nat({ max: 60 }).map((depth) => `${'('.repeat(depth)}order${')'.repeat(depth)}`),
  fc.nat({ max: 60 }).map((depth) => `${'['.repeat(depth)}order.rows${']'.repeat(depth)}`),
  several.map((each) => each.replaceAll(/\br\b/g, 'order.rows[0]')),
);

/** Comparisons that take almost half of the steps. Their time says how fast this machine is. */
const ordinary = 'order.rows.all(r, order.rows == order.rows)';
/** The largest ratio of the time of an expression to the time of a whole budget of ordinary steps. */
const timesMax = 8;

/** G14: expressions that cost much, on the largest data that a client can send (A10). */
export const figure: Figure = {
  shows: `hostile expressions on the largest data: each ends with a value, a fault or a refusal, within ${stepsMax} steps and a time in proportion`,
  async measure({ form, seed, progress }) {
    const all = fc.sample(expression, { numRuns: forms[form], seed });
    const wrong: string[] = [];
    const took: number[] = [];
    const budgetMs = ordinaryBudgetMs(wrong);
    const ends = { value: 0, fault: 0, tooLarge: 0, refused: 0 };
    let slowest = { ms: 0, expression: '' };
    for (const [index, each] of all.entries()) {
      const { ended, ms } = timed(each, wrong, timesMax * budgetMs);
      if (ms > timesMax * budgetMs) wrong.push(`${each} takes ${Math.round(ms)} ms, ${Math.round(ms / budgetMs)} times the ordinary steps`);
      ends[ended] += 1;
      took.push(ms);
      if (ms > slowest.ms) slowest = { ms: Math.round(ms), expression: each.slice(0, 300) };
      if (index % 2_000 === 1_999) progress(`${index + 1} of ${all.length} expressions`);
    }
    const rising = took.toSorted((a, b) => a - b);
    const at = (share: number): number => Math.round(10 * (rising[Math.floor(share * (rising.length - 1))] ?? 0)) / 10;
    const few = Object.entries(ends).filter(([, count]) => count < all.length / 100);
    return measured([...wrong.slice(0, 10), ...few.map(([name, count]) => `only ${count} expressions ended with ${name}`)], {
      expressions: all.length,
      ends,
      stepsMax,
      ordinaryBudgetMs: Math.round(budgetMs),
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      slowest,
    });
  },
};

/** Returns the milliseconds that a whole budget of ordinary steps takes: the median of nine evaluations. */
function ordinaryBudgetMs(wrong: string[]): number {
  const each = Array.from({ length: 9 }, () => timed(ordinary, wrong, 0).ms).toSorted((a, b) => a - b)[4] ?? 0;
  return (each * stepsMax) / stepsTaken();
}

/** Evaluates an expression. If it takes longer than `enoughMs`, the shortest of three times counts: other processes share this machine. */
function timed(each: string, wrong: string[], enoughMs: number): { readonly ended: End; readonly ms: number } {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tries = 1; ; tries++) {
    const started = performance.now();
    const ended = endOf(each, wrong);
    shortest = Math.min(shortest, performance.now() - started);
    if (tries === 3 || shortest <= enoughMs) return { ended, ms: shortest };
  }
}

type End = 'value' | 'fault' | 'tooLarge' | 'refused';

function endOf(each: string, wrong: string[]): End {
  try {
    const parsed = parseExpression(each);
    if (!parsed.ok) return 'refused';
    const evaluation = parsed.expression.evaluate(scope);
    if (!evaluation.ok) return evaluation.fault.type === 'Engine/ExpressionTooLarge' ? 'tooLarge' : 'fault';
    if (stepsTaken() > stepsMax) wrong.push(`${each} has a value after ${stepsTaken()} steps`);
    // Quotes, names and punctuation come in addition.
    if (JSON.stringify(evaluation.value).length > 3 * resultCharactersMax) wrong.push(`${each} has a value that is too long`);
    return 'value';
  } catch (error) {
    wrong.push(`${each} throws ${String(error)}`);
    return 'fault';
  }
}
