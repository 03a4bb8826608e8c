import { behaviorOf, runsAgain } from '#core/activities/index';
import { possibleUntil, type StepState } from '#core/activities/step';
import { engineFaults, type Fault, isKindOf } from '#core/data/fault';
import { firstGenerationOf, undonePath } from '#core/data/ids';
import type { CoreFact, Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { initialState, type State, type UndoEntry } from '#core/data/state';
import { type Activity, isRemote, type RemoteActivity, type Template } from '#core/definition/definition';
import { parseExpression } from '#core/definition/expression';
import { childrenOf, definitionPath, expressionsIn, fill, nodeAt, type Program, parentOf, scopeOf } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import type { Subject } from './transition.ts';
import { isWithin } from './undo-pages.ts';

export interface Remains {
  /** A state without open activities. Everything undoable is in its undo list. */
  readonly state: State;
  /** The obstacles to undoing everything, one sentence each. */
  readonly problems: readonly string[];
}

interface Losses {
  /** Whether the journal is complete. If not, every step that could have been requested counts as requested. */
  readonly whole: boolean;
  /** Whether a person may have resubmitted a step in the lost part of the journal, under a new key. */
  readonly resubmitted: boolean;
  readonly stepMs: number;
  /** When the last event that the journal may contain happened: milliseconds since 1970. */
  readonly lastAt: number;
}

/**
 * Rebuilds a state from a journal, just far enough to undo the order. A step not known to be done, or known only with
 * secrets masked, counts as unknown. It is confirmed under its key before anything is undone.
 */
export function rebuiltState(program: Program, subject: Subject, facts: readonly Fact[], losses: Losses): Remains {
  const replay = new Replay(program, subject);
  for (const fact of facts) replay.fact(fact);
  if (!losses.whole) replay.assume(losses);
  return { state: replay.state(losses.stepMs), problems: replay.problems() };
}

interface Course {
  readonly generation: number;
  readonly attempt: number;
  /** It was requested, and no fact says how that ended. */
  readonly open: boolean;
  readonly fault?: Fault | undefined;
}

class Replay {
  private readonly program: Program;
  private readonly subject: Subject;
  /** The generation of the first effect at each path. */
  private readonly first: number;
  private readonly courses = new Map<string, Course>();
  private readonly closed = new Set<string>();
  private entries: UndoEntry[] = [];
  private outputs: { [path: string]: Json } = {};
  /** Collected values by the path of a loop, then by turn. Object keys that are integers keep ascending order. */
  private readonly collected: { [path: string]: { readonly [turn: string]: Json | undefined } } = {};
  private vars: { [name: string]: Json } = {};
  private undone = false;
  private readonly unclear: string[] = [];

  constructor(program: Program, subject: Subject) {
    this.program = program;
    this.subject = subject;
    this.first = firstGenerationOf(subject);
  }

  fact(fact: Fact): void {
    if (!('path' in fact) || fact.path === undefined || !this.program.nodes.has(definitionPath(fact.path))) return;
    const { path } = fact;
    const undoes = undoneBy(this.program, path);
    switch (fact.type) {
      case 'StepRequested':
        return undoes === undefined ? this.requested(fact) : undefined;
      case 'FaultRaised':
      case 'AttemptFailed':
      case 'OrderBlocked':
        return this.note(path, { fault: fact.fault });
      case 'MarkedCompensated':
        return this.drop(path);
      case 'ActivityClosed':
        return undoes !== undefined && fact.result === 'Compensated' ? this.compensated(undoes) : this.closes(fact);
    }
  }

  private requested({ path, attemptId, at, completeBy }: Extract<Fact, { type: 'StepRequested' }>): void {
    const [, generation, attempt] = /^(\d+)#\d+\.(\d+)$/.exec(attemptId)?.map(Number) ?? [];
    if (generation === undefined || attempt === undefined) return;
    this.courses.set(path, { generation, attempt, open: true });
    this.unknown(path, { generation, attempt }, at, completeBy);
  }

  /** Adds an undo entry with an unknown outcome: the input of the request, and until when it may have its effect. */
  private unknown(path: string, { generation, attempt }: Pick<Course, 'generation' | 'attempt'>, since: number, completeBy: number): void {
    const node = nodeAt(this.program, path);
    if (!isRemote(node) || !node.undo) return;
    const asked = this.filled(node.input, path);
    const until = possibleUntil(node, { completeBy, since } as StepState);
    this.put({ path, generation, attempt, ...(asked === undefined ? {} : { requestInput: asked }), until });
  }

  private closes(fact: Extract<CoreFact, { type: 'ActivityClosed' }>): void {
    const { path, result } = fact;
    const node = nodeAt(this.program, path);
    this.closed.add(path);
    if (result === 'Succeeded') this.succeeds(path, node, fact.attemptId !== undefined, fact.output);
    else if (isRemote(node) && this.isRefused(path)) this.drop(path);
    if (node.activity === 'forEach') delete this.collected[path];
    this.note(path, { open: false });
  }

  private succeeds(path: string, node: Activity, asked: boolean, output: Json | undefined): void {
    if (output !== undefined) this.outputs = { ...this.outputs, [path]: output };
    this.collects(path, node);
    if (node.activity === 'assign') {
      const value = this.filled(node.value, path);
      if (value !== undefined) this.vars = { ...this.vars, [node.variable]: value };
    }
    // A retry closes a step of an earlier run without a request. That step is recorded already.
    if (!node.undo || (isRemote(node) && !asked)) return;
    const input = this.filled(node.undo.input, path, { [node.name]: output ?? null });
    const { generation = this.first } = this.courses.get(path) ?? {};
    if (isRemote(node)) {
      const entry = this.entries.find((each) => each.path === path);
      // The undo needs a masked secret. The unknown entry stays: confirming it returns the same output again.
      return this.put(input === undefined && entry ? entry : { path, generation, input: input ?? null });
    }
    this.entries = this.entries.filter((each) => !(isWithin(each.path, path) && each.input !== undefined));
    this.put({ path, generation, input: input ?? null });
    if (input === undefined) this.unclear.push(`The undo of ${path} cannot be rebuilt: it needs lost or secret data.`);
  }

  /** Rebuilds the list that a loop collected from the outputs of its turns. The journal does not contain the list. */
  private collects(path: string, node: Activity): void {
    if (node.activity === 'forEach' && node.collect !== undefined) {
      const values = Object.values(this.collected[path] ?? {});
      if (!values.includes(undefined)) this.outputs = { ...this.outputs, [path]: values as Json[] };
    }
    const [, around = '', turn = ''] = /^(.*)\[(\d+)\]\/[^/]+$/.exec(path) ?? [];
    const loop = around === '' ? undefined : nodeAt(this.program, around);
    if (loop?.activity !== 'forEach' || loop.collect === undefined) return;
    this.collected[around] = { ...this.collected[around], [turn]: this.filled(loop.collect, path) };
  }

  /** Whether a step was definitely refused. Any other step is requested again under its key. */
  private isRefused(path: string): boolean {
    const { fault } = this.courses.get(path) ?? {};
    const local = [engineFaults.deadlineExceeded, engineFaults.expressionFailed, engineFaults.expressionTooLarge];
    return fault?.permanent === true && !fault.outcomeUnknown && !local.some((type) => isKindOf(fault.type, type));
  }

  private compensated(path: string): void {
    this.drop(path);
    this.undone = true;
    const { generation = this.first, attempt = 1 } = this.courses.get(path) ?? {};
    // A later run of a composite has a new key. A step's own facts name its key.
    this.courses.set(path, { generation: isRemote(nodeAt(this.program, path)) ? generation : generation + 1, attempt, open: false });
  }

  private note(path: string, change: Partial<Course>): void {
    const course = this.courses.get(path);
    if (course) this.courses.set(path, { ...course, ...change });
  }

  private put(entry: UndoEntry): void {
    this.entries = [...this.entries.filter(({ path }) => path !== entry.path), entry];
  }

  private drop(path: string): void {
    this.entries = this.entries.filter((each) => each.path !== path);
    this.note(path, { open: false });
  }

  /** Evaluates a template. Undefined if a value is missing, or if a secret in it is masked. */
  private filled(template: Template, path: string, local: { readonly [name: string]: Json } = {}): Json | undefined {
    const scope = scopeOf(this.program, this.subject, { outputs: this.outputs, vars: this.vars }, path);
    const filled = fill(template, { ...scope, steps: { ...scope.steps, ...local } });
    return filled.ok && !JSON.stringify(filled.value).includes(mask) ? filled.value : undefined;
  }

  /** Adds an unknown entry for every undoable step of which the remaining journal says nothing. */
  assume(losses: Losses): void {
    if (losses.resubmitted) this.unclear.push('The order was in Error when its journal was lost: the keys of later requests are unknown.');
    for (const [path, node] of this.program.nodes) {
      if (!node.undo || undoneBy(this.program, path) !== undefined) continue;
      for (const each of this.turnsOf(path)) {
        if (this.mayHaveNewKey(each)) this.unclear.push(`It is unknown how often ${each} was done: the retry around it uses new keys.`);
        else if (!this.isKnown(each)) this.mayBeRequested(each, losses);
      }
    }
  }

  private isKnown(path: string): boolean {
    if (this.entries.some((entry) => entry.path === path || isWithin(path, entry.path))) return true;
    return this.isOver(path);
  }

  /** Whether a running retry may have requested the step under a new key: after a refusal, after an undo, or with another input. */
  private mayHaveNewKey(path: string): boolean {
    const step = nodeAt(this.program, path);
    const mayDiffer = isRemote(step) && /\b(?:steps|vars|each)\b/.test(JSON.stringify(step.input));
    return [...aroundOf(path)].some((each) => {
      const node = nodeAt(this.program, each);
      return runsAgain(node) && (mayDiffer || mayUndoBetweenRuns(node)) && !this.isOver(each);
    });
  }

  private isOver(path: string): boolean {
    return this.closed.has(path) || [...aroundOf(path)].some((each) => this.closed.has(each));
  }

  /** Returns its paths in every turn of the loops around it. */
  private turnsOf(path: string): readonly string[] {
    let paths = [''];
    let at = '';
    for (const name of path.split('/')) {
      at = at === '' ? name : `${at}/${name}`;
      const node = at === path ? undefined : this.program.nodes.get(at);
      const here = paths.map((each) => (each === '' ? name : `${each}/${name}`));
      paths = node && behaviorOf(node.activity).repeats ? here.flatMap((each) => this.turnsAt(each, node)) : here;
    }
    return paths;
  }

  private turnsAt(path: string, loop: Activity): readonly string[] {
    const list = loop.activity === 'forEach' ? this.filled(loop.list, path) : undefined;
    if (Array.isArray(list)) return list.map((_, index) => `${path}[${index}]`);
    this.unclear.push(`It is unknown how many turns ${path} has made.`);
    return [];
  }

  private mayBeRequested(path: string, { stepMs, lastAt }: Losses): void {
    const node = nodeAt(this.program, path);
    if (!isRemote(node)) return void this.unclear.push(`It is unknown whether ${path}, which is undone as a whole, was completed.`);
    const before = this.courses.get(path);
    const generation = before === undefined ? this.first : before.generation + 1;
    const completeBy = lastAt + (node.completeWithinSeconds ?? stepMs / 1000) * 1000;
    this.unknown(path, { generation, attempt: 1 }, lastAt, completeBy);
  }

  problems(): readonly string[] {
    const unknown = this.entries.filter(({ input }) => input === undefined);
    return [
      ...new Set([
        ...this.unclear,
        ...unknown.flatMap(({ path, requestInput: asked }) =>
          asked === undefined
            ? [`It cannot be confirmed whether ${path} was done: its input needs lost or secret data.`]
            : this.isUndoable(path)
              ? []
              : [`If ${path} was done, it cannot be undone: its undo needs lost or secret data.`],
        ),
      ]),
    ];
  }

  /** Whether all values that its undo reads, besides its own output, are known. */
  private isUndoable(path: string): boolean {
    const { name, undo } = nodeAt(this.program, path) as RemoteActivity;
    const known = scopeOf(this.program, this.subject, { outputs: this.outputs, vars: this.vars }, path);
    const isThere = (value: Json | undefined): boolean => value !== undefined && !JSON.stringify(value).includes(mask);
    return [...expressionsIn(undo?.input ?? null)].every(({ text }) => {
      const parsed = parseExpression(text);
      if (!parsed.ok) return false;
      const { steps, vars } = parsed.expression;
      const others = steps.filter((read) => read.name !== name);
      return others.every((read) => isThere(known.steps[read.name])) && vars.every((read) => isThere(this.vars[read.name]));
    });
  }

  /** Returns the state. Entries that were still open come last, so they are confirmed first. */
  state(stepMs: number): State {
    const isOpen = ({ path }: UndoEntry): boolean => this.courses.get(path)?.open !== false && isRemote(nodeAt(this.program, path));
    const undo = [...this.entries.filter((entry) => !isOpen(entry)), ...this.entries.filter(isOpen)];
    const read = Object.entries(this.outputs).filter(([path]) => [...this.program.readOutputs.values()].includes(definitionPath(path)));
    return {
      ...initialState,
      phase: 'running',
      stepMs,
      outputs: Object.fromEntries(read),
      ...(Object.keys(this.vars).length > 0 ? { vars: this.vars } : {}),
      undo,
      ...(this.undone ? { undone: true as const } : {}),
    };
  }
}

/** Whether a retry may undo a step before it runs it again. For a custom activity this is unknown, so it counts as true. */
const mayUndoBetweenRuns = (node: Activity): boolean =>
  node.activity !== 'retry' || node.evenPermanent === true || node.only !== undefined || node.undoFirst === true || mayUndo(node.do);

/** Whether a part may be undone while it runs: by a handler, or because a parallel branch has failed. */
const mayUndo = (node: Activity): boolean =>
  !['sequence', 'scope', 'choice', 'while', 'retry'].includes(node.activity)
    ? behaviorOf(node.activity).children(node).length > 0 || node.activity === 'compensate'
    : childrenOf(node).some(mayUndo);

function* aroundOf(path: string): Generator<string> {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) yield at;
}

/** Returns the path that an undo step undoes; undefined for any other step. */
const undoneBy = ({ nodes }: Program, path: string): string | undefined => {
  const did = path.endsWith('/undo') ? undonePath(path) : '';
  return nodes.get(definitionPath(did))?.undo ? did : undefined;
};
