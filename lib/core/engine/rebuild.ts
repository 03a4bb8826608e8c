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
import type { Subject } from './transition-builder.ts';
import { isWithin } from './undo-pages.ts';

export interface Remains {
  /** Nothing in it is alive; what may be undone of the order is in its undo list. */
  readonly state: State;
  /** What stands in the way of undoing all of it, a sentence each. */
  readonly problems: readonly string[];
}

interface Losses {
  /** Whether the journal is all there; else whatever could have been asked counts as asked. */
  readonly whole: boolean;
  /** Whether a person may have resubmitted something of which the journal is lost: under a new key, then. */
  readonly resubmitted: boolean;
  readonly stepMs: number;
  /** When the last thing happened that could be in the journal: milliseconds since 1970. */
  readonly lastAt: number;
}

/**
 * What can be made of a journal where the state itself is lost: enough for undoing. What is not known to have been done,
 * or only with secrets left out, counts as unknown: it is found out under its key before anything is undone.
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
  /** It was asked, and nothing says yet how that ended. */
  readonly open: boolean;
  readonly fault?: Fault | undefined;
}

class Replay {
  private readonly program: Program;
  private readonly subject: Subject;
  /** The generation of what was requested for the first time. */
  private readonly first: number;
  private readonly courses = new Map<string, Course>();
  private readonly closed = new Set<string>();
  private entries: UndoEntry[] = [];
  private outputs: { [path: string]: Json } = {};
  /** By the path of a loop: by turn, in whose order entries with numbers for names stand. */
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
        return undoes === undefined ? this.asked(fact) : undefined;
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

  private asked({ path, attemptId: asking, at, completeBy }: Extract<Fact, { type: 'StepRequested' }>): void {
    const [, generation, attempt] = /^(\d+)#\d+\.(\d+)$/.exec(asking)?.map(Number) ?? [];
    if (generation === undefined || attempt === undefined) return;
    this.courses.set(path, { generation, attempt, open: true });
    this.unknown(path, { generation, attempt }, at, completeBy);
  }

  /** Noted as undone if it was done: what it was asked with, and until when that may still have its effect. */
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
    // A run of a retry closes what an earlier one did without asking for it: that is noted already.
    if (!node.undo || (isRemote(node) && !asked)) return;
    const input = this.filled(node.undo.input, path, { [node.name]: output ?? null });
    const { generation = this.first } = this.courses.get(path) ?? {};
    if (isRemote(node)) {
      const entry = this.entries.find((each) => each.path === path);
      // Without what is secret its undo can't be asked for: it answers again what it answered then.
      return this.put(input === undefined && entry ? entry : { path, generation, input: input ?? null });
    }
    this.entries = this.entries.filter((each) => !(isWithin(each.path, path) && each.input !== undefined));
    this.put({ path, generation, input: input ?? null });
    if (input === undefined) this.unclear.push(`What undoes ${path} cannot be made again: it needs what is lost, or was secret.`);
  }

  /** The journal has no list that a loop collected, but all that its turns have answered. */
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

  /** For certain: anything else is asked once more under its key. */
  private isRefused(path: string): boolean {
    const { fault } = this.courses.get(path) ?? {};
    const local = [engineFaults.deadlineExceeded, engineFaults.expressionFailed, engineFaults.expressionTooLarge];
    return fault?.permanent === true && !fault.outcomeUnknown && !local.some((type) => isKindOf(fault.type, type));
  }

  private compensated(path: string): void {
    this.drop(path);
    this.undone = true;
    const { generation = this.first, attempt = 1 } = this.courses.get(path) ?? {};
    // A later run of a composite is undone under a new key; a step says its own.
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

  /** What a template yields; undefined where it can't be said exactly, for a secret is left out of it, or something is missing. */
  private filled(template: Template, path: string, local: { readonly [name: string]: Json } = {}): Json | undefined {
    const scope = scopeOf(this.program, this.subject, { outputs: this.outputs, vars: this.vars }, path);
    const filled = fill(template, { ...scope, steps: { ...scope.steps, ...local } });
    return filled.ok && !JSON.stringify(filled.value).includes(mask) ? filled.value : undefined;
  }

  /** Of undoable steps of which the journal that is left says nothing, each may have been asked. */
  assume(losses: Losses): void {
    if (losses.resubmitted)
      this.unclear.push('The order was in Error when its journal was lost: what was asked after that has keys that nobody knows.');
    for (const [path, node] of this.program.nodes) {
      if (!node.undo || undoneBy(this.program, path) !== undefined) continue;
      for (const each of this.turnsOf(path)) {
        if (this.isRunAnew(each)) this.unclear.push(`Nobody can say how often ${each} was done: the retry around it asks under new keys.`);
        else if (!this.isKnown(each)) this.mayBeAsked(each, losses);
      }
    }
  }

  private isKnown(path: string): boolean {
    if (this.entries.some((entry) => entry.path === path || isWithin(path, entry.path))) return true;
    return this.isOver(path);
  }

  /** Whether a retry that may be at work may ask for it under a new key in another run: it was refused then, or undone, or its input was another. */
  private isRunAnew(path: string): boolean {
    const step = nodeAt(this.program, path);
    const mayDiffer = isRemote(step) && /\b(?:steps|vars|each)\b/.test(JSON.stringify(step.input));
    return [...aroundOf(path)].some((each) => {
      const node = nodeAt(this.program, each);
      return runsAgain(node) && (mayDiffer || mayTakeBack(node)) && !this.isOver(each);
    });
  }

  private isOver(path: string): boolean {
    return this.closed.has(path) || [...aroundOf(path)].some((each) => this.closed.has(each));
  }

  /** Its paths in every turn of the loops around it. */
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
    this.unclear.push(`Nobody can say how many turns ${path} has made.`);
    return [];
  }

  private mayBeAsked(path: string, { stepMs, lastAt }: Losses): void {
    const node = nodeAt(this.program, path);
    if (!isRemote(node)) return void this.unclear.push(`Nobody can say whether ${path}, which is undone as a whole, was completed.`);
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
            ? [`Whether ${path} was done cannot be found out: what it was asked with needs what is lost, or was secret.`]
            : this.isUndoable(path)
              ? []
              : [`If ${path} was done, it cannot be undone: that needs what is lost, or was secret.`],
        ),
      ]),
    ];
  }

  /** Whether all that its undo reads beside its own answer is there. */
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

  /** What was still open when it was lost is found out first. */
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

/** Nobody knows that of one that an app has brought along. */
const mayTakeBack = (node: Activity): boolean =>
  node.activity !== 'retry' || node.evenPermanent === true || node.only !== undefined || node.undoFirst === true || mayUndo(node.do);

/** Whether something inside may be undone while it runs: by a handler, or because what runs beside it has failed. */
const mayUndo = (node: Activity): boolean =>
  !['sequence', 'scope', 'choice', 'while', 'retry'].includes(node.activity)
    ? behaviorOf(node.activity).children(node).length > 0 || node.activity === 'compensate'
    : childrenOf(node).some(mayUndo);

function* aroundOf(path: string): Generator<string> {
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) yield at;
}

/** The path of what an undo step undoes; undefined for everything else. */
const undoneBy = ({ nodes }: Program, path: string): string | undefined => {
  const did = path.endsWith('/undo') ? undonePath(path) : '';
  return nodes.get(definitionPath(did))?.undo ? did : undefined;
};
