import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { engineFault, engineFaults, type Fault } from '#core/data/fault';
import { isObject, type Json } from '#core/data/json';
import { meter, resultCharactersMax, spend, TooLarge, withinBudget } from './expression-budget.ts';
import { type Findings, inspect, type Read, type RootNames, roots } from './expression-guard.ts';

/** The version of the language below. A change of meaning gets a new number, and the old version stays readable. */
export const exprVersion = 1;

/** The limits of expressions. Exceeding one is a fault, or a refusal of the definition; values are never truncated. */
export const expressionLimits = {
  astNodesMax: 200,
  depthMax: 20,
  listEntriesMax: 1000,
  patternCharactersMax: 256,
  matchedCharactersMax: 4096,
} as const;

/** The values that an expression may read. */
export interface Scope {
  readonly orderId: string;
  readonly order: Json;
  /** The outputs, by the name of the step. */
  readonly steps: { readonly [name: string]: Json };
  readonly vars?: { readonly [name: string]: Json };
  /** The entries of enclosing loops, by the name of the loop: `{ item, index }`. */
  readonly each?: { readonly [name: string]: Json };
  /** The fault being handled, inside a fault handler. */
  readonly fault?: Json;
}

export type Evaluation = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly fault: Fault };

/** A parsed expression. `S`: the values that its language reads. */
export interface Expression<S = Scope> {
  /** The steps whose outputs it reads. */
  readonly steps: readonly Read[];
  /** The variables that it reads. */
  readonly vars: readonly Read[];
  /** The loops whose entries it reads. */
  readonly each: readonly Read[];
  /** The position at which it reads the fault being handled. */
  readonly fault: number | undefined;
  readonly ast: ASTNode;
  readonly evaluate: (scope: S) => Evaluation;
}

export type Parsed<S = Scope> =
  | { readonly ok: true; readonly expression: Expression<S> }
  | { readonly ok: false; readonly message: string; readonly position: number };

/** Values that the expressions of a language read. */
export interface Vocabulary {
  /** The types, in CEL's words. */
  readonly variables: { readonly [name: string]: 'string' | 'dyn' };
  readonly roots: RootNames;
}

/**
 * Returns the parser of a language. All languages have the same functions, guard and limits, and differ in the names that may be read.
 * Errors of the parser have the position (characters from 0) for a caret.
 */
export function createParser<S extends object>({ variables, roots: names }: Vocabulary): (text: string) => Parsed<S> {
  const environment = createEnvironment(variables);
  const known = new Map<string, Parsed<S>>();
  return (text) => {
    const found = known.get(text);
    if (found) return found;
    const parsed = parseUncached<S>(text, environment, names);
    if (known.size >= 10_000) known.clear();
    known.set(text, parsed);
    return parsed;
  };
}

function parseUncached<S extends object>(text: string, environment: Environment, names: RootNames): Parsed<S> {
  let program: ParseResult;
  try {
    program = environment.parse(text);
  } catch (error) {
    const { message, range } = error as { message: string; range?: { start: number } };
    return { ok: false, message: firstLine(message), position: range?.start ?? 0 };
  }
  const found: Findings = { names, reads: { steps: new Map(), vars: new Map(), each: new Map() }, fault: undefined, lists: [] };
  const refusal = inspect(program.ast, found, false);
  if (refusal) return { ok: false, ...refusal };
  const { error } = program.check();
  if (error) return { ok: false, message: firstLine(error.message), position: error.range?.start ?? 0 };

  const lists = found.lists.map((node) => environment.parse(text.slice(node.range.start, node.range.end)));
  for (const { ast } of [program, ...lists]) meter(ast);
  const [steps, vars, each] = roots.map((root) => [...found.reads[root].values()]) as [Read[], Read[], Read[]];
  const evaluate = (scope: S) => evaluateGuarded(text, program, lists, scope);
  return { ok: true, expression: { steps, vars, each, fault: found.fault, ast: program.ast, evaluate } };
}

function evaluateGuarded(text: string, program: ParseResult, lists: readonly ParseResult[], scope: object): Evaluation {
  try {
    for (const list of lists) refuseLongList(listIn(list, scope));
    const value = withinBudget(() => program(scope));
    return { ok: true, value: toJson(value, { left: resultCharactersMax }) };
  } catch (error) {
    if (error instanceof TooLarge) return { ok: false, fault: engineFault(engineFaults.expressionTooLarge, `${text}: ${error.message}`) };
    return { ok: false, fault: engineFault(engineFaults.expressionFailed, `${text}: ${firstLine((error as Error).message)}`) };
  }
}

/**
 * Returns the list of a comprehension; undefined if it cannot be evaluated. The list is then in a branch that is not
 * taken, or the whole expression fails later with a message of its own.
 */
function listIn(list: ParseResult, scope: object): unknown {
  try {
    return withinBudget(() => list(scope));
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    return undefined;
  }
}

const vocabulary: Vocabulary = {
  variables: { orderId: 'string', order: 'dyn', steps: 'dyn', vars: 'dyn', each: 'dyn', fault: 'dyn' },
  roots: new Map(roots.map((root) => [root, root])),
};

/** Parses an expression of a workflow. */
export const parseExpression = createParser<Scope>(vocabulary);

/** CEL's names of the types that `resultOf` tries as operands. */
export const operandTypes = [
  'bool',
  'double',
  'dyn',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'int',
  'list<bool>',
  'list<double>',
  'list<map>',
  'list<string>',
  'map',
  'null',
  'string',
] as const;
export type OperandType = (typeof operandTypes)[number];

const operandName = (type: OperandType): string => `operand_${type.replaceAll(/\W/g, '_')}`;
const probing = operandTypes.reduce(
  (probing, type) => probing.registerVariable(operandName(type), type),
  createEnvironment(vocabulary.variables),
);
const probed = new Map<string, string | undefined>();

/**
 * Returns the type, in CEL's words, that an operator or a function yields for operands of these types. Undefined if it
 * does not accept them. `form` writes the operation: `(a, b) => `${a} + ${b}``.
 */
export function resultOf(form: (...operands: string[]) => string, types: readonly OperandType[]): string | undefined {
  const text = form(...types.map(operandName));
  if (!probed.has(text)) {
    if (probed.size >= 10_000) probed.clear();
    const { valid, type } = probing.check(text);
    probed.set(text, valid ? type : undefined);
  }
  return probed.get(text);
}

function createEnvironment(variables: Vocabulary['variables']): Environment {
  const environment = new Environment({
    enableOptionalTypes: true,
    // JSON's lists and objects may mix types.
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: expressionLimits.astNodesMax,
      maxDepth: expressionLimits.depthMax,
      maxListElements: 100,
      maxMapEntries: 100,
      maxCallArguments: 32,
    },
  });
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, type);

  // CEL counts in integers, JSON in doubles. Without these overloads `order.total * 2` would fail.
  const arithmetic = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
  } satisfies {
    [operator: string]: (a: number, b: number) => number;
  };
  for (const [operator, compute] of Object.entries(arithmetic)) {
    const apply = (a: number | bigint, b: number | bigint) => compute(Number(a), Number(b));
    environment.registerOperator(`double ${operator} int`, apply).registerOperator(`int ${operator} double`, apply);
  }
  return environment
    .registerOperator('double == int', (a: number, b: bigint) => a === Number(b))
    .registerOperator('double % double', (a: number, b: number) => a % b)
    .registerFunction('sum(list): double', (list: unknown[]) => numbersOf(list).reduce((sum, number) => sum + number, 0))
    .registerFunction('min(list): double', (list: unknown[]) => Math.min(...atLeastOne(numbersOf(list))))
    .registerFunction('max(list): double', (list: unknown[]) => Math.max(...atLeastOne(numbersOf(list))))
    .registerFunction('orElse(dyn, dyn): dyn', (value: unknown, otherwise: unknown) => presentOr(value, otherwise))
    .registerFunction('like(string, string): bool', like);
}

const presentOr = (value: unknown, otherwise: unknown): unknown => {
  if (isObject(value) && 'hasValue' in value && typeof value['hasValue'] === 'function') {
    return value['hasValue']() ? (value as unknown as { value: () => unknown }).value() : otherwise;
  }
  return value ?? otherwise;
};

/** Whether the whole text matches, in linear time. */
function like(text: string, pattern: string): boolean {
  if (pattern.length > expressionLimits.patternCharactersMax)
    throw new TooLarge(`a pattern has at most ${expressionLimits.patternCharactersMax} characters`);
  if (text.length > expressionLimits.matchedCharactersMax)
    throw new TooLarge(`a matched text has at most ${expressionLimits.matchedCharactersMax} characters`);
  const compiled = compiledPattern(pattern);
  // The steps pay for the compilation, too.
  spend(compiled.programSize() * (text.length + compileCharacters));
  return compiled.matcher(text).matches();
}

/** The cost of compiling a pattern, as characters of text that it could match instead. */
const compileCharacters = 20;
const compiledPatterns = new Map<string, RE2JS>();

function compiledPattern(pattern: string): RE2JS {
  const known = compiledPatterns.get(pattern);
  if (known) return known;
  const compiled = RE2JS.compile(pattern);
  if (compiledPatterns.size >= 1_000) compiledPatterns.clear();
  compiledPatterns.set(pattern, compiled);
  return compiled;
}

function numbersOf(list: unknown[]): number[] {
  refuseLongList(list);
  return list.map((entry) => {
    if (typeof entry === 'number' || typeof entry === 'bigint') return Number(entry);
    throw new Error(`expected a number, got ${JSON.stringify(entry)}`);
  });
}

const atLeastOne = (numbers: number[]): number[] => {
  if (numbers.length === 0) throw new Error('an empty list has no smallest or largest number');
  return numbers;
};

function refuseLongList(value: unknown): void {
  const length = Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0;
  if (length > expressionLimits.listEntriesMax)
    throw new TooLarge(`the list has ${length} entries; the maximum is ${expressionLimits.listEntriesMax}`);
}

/** Converts a result to JSON. CEL's integers are BigInt, on which `JSON.stringify` throws. */
function toJson(value: unknown, room: { left: number }): Json {
  room.left -= 1 + (typeof value === 'string' ? value.length : 0);
  if (room.left < 0)
    throw new TooLarge(
      `the result has more than ${resultCharactersMax} characters as JSON; select the fields that are needed, or pass a reference`,
    );
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') {
    if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
      throw new Error(`${value} is beyond what JSON numbers hold exactly`);
    return Number(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`the result is ${value}, which JSON cannot hold`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Error(`${value} is beyond what JSON numbers hold exactly`);
    return value;
  }
  if (Array.isArray(value)) return value.map((entry) => toJson(entry, room));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, entry]) => [String(key), toJson(entry, room)]));
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    return Object.fromEntries(
      Object.entries(value as object).map(([key, entry]) => {
        room.left -= key.length;
        return [key, toJson(entry, room)];
      }),
    );

  throw new Error(`the result is a ${(value as object).constructor.name}, which JSON cannot hold`);
}

const firstLine = (message: string): string => message.split('\n')[0] ?? message;
