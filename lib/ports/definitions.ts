import type { AgentDefinition } from '#authoring/agent';
import type { ConsumerDefinition } from '#authoring/consumer';
import type { Json } from '#core/data/json';
import type { Catalog } from '#core/definition/catalog';
import type { WorkflowDefinition } from '#core/definition/definition';
import type { Program } from '#core/definition/program';
import type { Rule } from '#core/rules/rule';
import type { StateRecord } from './records.ts';

/** Definitions of the app's workflows and agents. */
export interface Definitions {
  /** Returns the exact version. An order keeps the version that it started with. */
  program(name: string, version: number): Program | undefined;
  /** Returns the program of an order; undefined if the app lacks its version, or the version has changed since the order began. */
  programOf(order: Pick<StateRecord, 'workflow' | 'definition'>): Program | undefined;
  /** Returns the newest version, which new orders start with. */
  newest(name: string): Program | undefined;
  names(): readonly string[];
  /** All versions of all workflows. */
  readonly workflows: readonly WorkflowDefinition[];
  readonly catalog: Catalog;
  /** The rules that the app declares. */
  readonly rules: readonly Rule[];
  /** Whether an output matches the operation's schema. */
  isValidOutput(agent: string, operation: string, output: Json): boolean;
  /** Whether an input matches the operation's schema. */
  isValidInput(agent: string, operation: string, input: Json): boolean;
  readonly agents: readonly AgentDefinition[];
  readonly consumers: readonly ConsumerDefinition[];
  /** Warnings about definitions that can run nevertheless: `fulfil-order@1, order/confirm: This step has no undo …`. */
  readonly warnings: readonly string[];
}
