import type { EventContent } from '#core/data/event';
import { definitionPath, firstGenerationOf, isUndoPath, undonePath } from '#core/data/ids';
import type { CoreFact, Fact } from '#core/data/journal';
import type { Json } from '#core/data/json';
import { initialState, type State, type UndoEntry } from '#core/data/state';
import { type Activity, isRemote, type Template } from '#core/definition/definition';
import { fill, nodeAt, type Program, scopeOf } from '#core/definition/program';
import { mask } from '#core/definition/secrets';
import { possibleUntil } from './confirmation.ts';
import { provesRefusal } from './step-replies.ts';
import type { Subject } from './transition.ts';
import { isWithin } from './undo-pages.ts';

/** The requests of one step, as far as the journal tells. */
interface Course {
  readonly generation: number;
  readonly attempt: number;
  /** Whether the step was requested, and no fact says how the request ended. */
  readonly open: boolean;
  /** Whether the first fault after the request proves that the service refused it. A later fault may be that of a rule. */
  readonly isRefused?: boolean;
}

/** The work of an order as the facts of its journal tell it. */
export class Replay {
  readonly program: Program;
  readonly subject: Subject;
  /** The generation of the first effect at each path. */
  readonly first: number;
  readonly courses = new Map<string, Course>();
  readonly closed = new Set<string>();
  entries: UndoEntry[] = [];
  outputs: { [path: string]: Json } = {};
  /** Collected values by the path of a loop, then by turn. Object keys that are integers keep ascending order. */
  private readonly collected: { [path: string]: { readonly [turn: string]: Json | undefined } } = {};
  vars: { [name: string]: Json } = {};
  private undone = false;
  readonly unclear: string[] = [];

  constructor(program: Program, subject: Subject) {
    this.program = program;
    this.subject = subject;
    this.first = firstGenerationOf(subject);
  }

  fact(fact: Fact & { readonly event?: EventContent }): void {
    if (!('path' in fact) || fact.path === undefined || !this.program.nodes.has(definitionPath(fact.path))) return;
    const { path } = fact;
    const undoes = undoneBy(this.program, path);
    switch (fact.type) {
      case 'StepRequested':
        return undoes === undefined ? this.requested(fact) : undefined;
      case 'FaultRaised':
      case 'AttemptFailed':
      case 'OrderBlocked':
        return this.note(path, { isRefused: this.courses.get(path)?.isRefused ?? provesRefusal(fact, fact.fault) });
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
    this.addUnknown(path, { generation, attempt }, at, completeBy);
  }

  /** Adds an undo entry with an unknown outcome: the input of the request, and until when it may have its effect. */
  addUnknown(path: string, { generation, attempt }: Pick<Course, 'generation' | 'attempt'>, since: number, completeBy: number): void {
    const node = nodeAt(this.program, path);
    if (!isRemote(node) || !node.undo) return;
    const requestInput = this.filled(node.input, path);
    const until = possibleUntil(node, { completeBy, since });
    this.put({ path, generation, attempt, ...(requestInput === undefined ? {} : { requestInput }), until });
  }

  private closes(fact: Extract<CoreFact, { type: 'ActivityClosed' }>): void {
    const { path, result } = fact;
    const node = nodeAt(this.program, path);
    this.closed.add(path);
    if (result === 'Succeeded') this.succeeds(path, node, fact.attemptId !== undefined, fact.output);
    // The entry of any other step stays: its outcome is confirmed by another request under its key.
    else if (isRemote(node) && this.courses.get(path)?.isRefused) this.drop(path);
    if (node.activity === 'forEach') delete this.collected[path];
    this.note(path, { open: false });
  }

  private succeeds(path: string, node: Activity, isRequested: boolean, output: Json | undefined): void {
    if (output !== undefined) this.outputs = { ...this.outputs, [path]: output };
    this.collects(path, node);
    if (node.activity === 'assign') {
      const value = this.filled(node.value, path);
      if (value !== undefined) this.vars = { ...this.vars, [node.variable]: value };
    }
    // In a later run of a retry, a step that is done already closes without a request. The entry of its first run stays.
    if (!node.undo || (isRemote(node) && !isRequested)) return;
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
  filled(template: Template, path: string, local: { readonly [name: string]: Json } = {}): Json | undefined {
    const scope = scopeOf(this.program, this.subject, { outputs: this.outputs, vars: this.vars }, path);
    const filled = fill(template, { ...scope, steps: { ...scope.steps, ...local } });
    return filled.ok && !JSON.stringify(filled.value).includes(mask) ? filled.value : undefined;
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

/** Returns the path that an undo step undoes; undefined for any other step. */
export const undoneBy = ({ nodes }: Program, path: string): string | undefined => {
  const did = isUndoPath(path) ? undonePath(path) : '';
  return nodes.get(definitionPath(did))?.undo ? did : undefined;
};
