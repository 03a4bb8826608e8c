import type { AgentDefinition } from '#authoring/agent';
import type { Json } from '#core/data/json';
import type { Program } from '#core/definition/program';
import type { StateRecord } from './records.ts';

/** The workflows and agents of the app that this system runs. */
export interface Definitions {
  /** The exact version; an order stays with the one that it started on. */
  program(name: string, version: number): Program | undefined;
  /** What an order goes on by; undefined where its version is not part of the app, or has changed since the order began. */
  programOf(order: Pick<StateRecord, 'workflow' | 'definition'>): Program | undefined;
  /** What a new order of this name starts on. */
  newest(name: string): Program | undefined;
  names(): readonly string[];
  /** Whether an output is what the operation's schema promises. */
  isOutput(agent: string, operation: string, output: Json): boolean;
  readonly agents: readonly AgentDefinition[];
  /** What their author should know of, although they run: `fulfil-order@1, order/confirm: It has no undo …`. */
  readonly warnings: readonly string[];
}
