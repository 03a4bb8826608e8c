import type { ASTNode } from '@marcbachmann/cel-js';
import { checkNumbers, compare, type Node, typeOfBinary, typeOfUnary } from './expression-operators.ts';
import { type Say, typeOfField } from './fields.ts';
import { yielded } from './overloads.ts';
import {
  alternatives,
  bool,
  capital,
  described,
  isNever,
  never,
  nothing,
  type ObjectType,
  type Type,
  text,
  typeOfLiteral,
  unionOf,
  unknown,
} from './types.ts';

/** The types of all values that an expression may read. */
export interface Readable {
  readonly order: Type;
  readonly fault: Type;
  readonly step: (name: string) => Type;
  readonly variable: (name: string) => Type;
  /** Returns the type of `{ item, index }` of the loop with this name. */
  readonly loop: (name: string) => Type;
  /** Whether some expression tests for this field: `has(order.note)`, `"note" in order`. The path has no spaces. */
  readonly isTestedFor: (path: string) => boolean;
  /** Returns the type of another name that a rule may read: `exception`, `at`. */
  readonly named?: (name: string) => Type | undefined;
}

/** Returns the type of an expression and reports its certain mistakes. Unknown types are not reported. */
export const typeOfExpression = (ast: ASTNode, readable: Readable, say: Say): Type => new Typing(readable, say).of(ast);

/** Returns `order.note` as written, without spaces. */
export const pathOf = ({ input, range }: ASTNode): string => input.slice(range.start, range.end).replaceAll(/\s/g, '');

/** Returns the position of a field name at the end of a node. */
const endOf = ({ range }: ASTNode, name: string): number => range.end - name.length;

type Select = Node<'.' | '.?' | '[]' | '[?]'>;

const comprehensions = new Set(['map', 'filter', 'all', 'exists', 'exists_one']);
const ofNumbers = new Set(['sum', 'min', 'max']);

class Typing {
  private readonly readable: Readable;
  private readonly say: Say;
  private readonly entryTypes = new Map<string, Type>();

  constructor(readable: Readable, say: Say) {
    this.readable = readable;
    this.say = say;
  }

  of(node: ASTNode): Type {
    switch (node.op) {
      case 'value':
        return typeOfLiteral(node.args);
      case 'id':
        return this.named(node.args);
      case '.':
      case '.?':
      case '[]':
      case '[?]':
        return this.select(node);
      case 'list':
        return { kind: 'list', item: node.args.length === 0 ? unknown : unionOf(node.args.map((entry) => this.of(entry))) };
      case 'map':
        return this.object(node);
      case '?:':
      case '&&':
      case '||':
        return this.logic(node);
      case '!_':
      case '-_':
        return typeOfUnary(node, this.of(node.args), this.say);
      case 'call':
        return this.call(node);
      case 'rcall':
        return this.method(node);
      case '==':
      case '!=':
        compare(node.args[0], this.of(node.args[0]), node.args[1], this.of(node.args[1]), this.say);
        return bool;
      case 'in':
        return this.membership(node);
      default:
        return typeOfBinary(node, this.of(node.args[0]), this.of(node.args[1]), this.say);
    }
  }

  private named(name: string): Type {
    const entry = this.entryTypes.get(name);
    if (entry) return entry;
    if (name === 'order') return this.readable.order;
    if (name === 'orderId') return text;
    return name === 'fault' ? this.readable.fault : (this.readable.named?.(name) ?? unknown);
  }

  private object({ args }: Node<'map'>): Type {
    const fields = args.map(([key, value]) => {
      const name = this.of(key);
      const [only, ...others] = name.kind === 'string' ? (name.among ?? []) : [];
      return { name: others.length === 0 ? only : undefined, type: this.of(value) };
    });
    if (fields.some(({ name }) => name === undefined)) return { kind: 'object', fields: new Map(), others: unknown };
    return { kind: 'object', fields: new Map(fields.map(({ name = '', type }) => [name, { type, required: true }])), others: 'none' };
  }

  private select(node: Select): Type {
    const [holder, key] = node.args;
    const isOptional = node.op === '.?' || node.op === '[?]';
    const name = typeof key === 'string' ? key : key.op === 'value' && typeof key.args === 'string' ? key.args : undefined;
    const root = this.root(holder, name);
    if (root) return isOptional ? { kind: 'optional', of: root } : root;

    const held = this.of(holder);
    const of = held.kind === 'optional' ? held.of : held;
    const type = name === undefined ? this.entry(of, key as ASTNode) : this.field(node, of, name, isOptional || held.kind === 'optional');
    return isOptional || held.kind === 'optional' ? { kind: 'optional', of: type } : type;
  }

  /** Returns the type of `steps.charge`, `vars.left` or `each.items`; in a rule, of `outputs.charge` or `variables.left`. */
  private root(holder: ASTNode, name: string | undefined): Type | undefined {
    if (holder.op !== 'id' || name === undefined || this.entryTypes.has(holder.args)) return undefined;
    if (holder.args === 'steps' || holder.args === 'outputs') return this.readable.step(name);
    if (holder.args === 'vars' || holder.args === 'variables') return this.readable.variable(name);
    return holder.args === 'each' ? this.readable.loop(name) : undefined;
  }

  private field(node: Select, of: Type, name: string, isTested: boolean): Type {
    const [holder, key] = node.args;
    const position = typeof key === 'string' ? endOf(node, name) : key.range.start;
    const isTestedHere = () => isTested || this.readable.isTestedFor(`${pathOf(holder)}.${name}`);
    return typeOfField({ of, holder: () => pathOf(holder), name, position, isTested: isTestedHere }, (...words) => this.say(...words));
  }

  /** Returns the type of an entry: of a list by its number, or of an object by a computed name. */
  private entry(of: Type, key: ASTNode): Type {
    const index = this.of(key);
    if (isNever(of)) return never;
    const lists = alternatives(of).filter((each) => each.kind === 'list');
    if (lists.length === 0 && alternatives(of).every(({ kind }) => ['number', 'string', 'bool', 'null'].includes(kind)))
      this.say(`Cannot index ${described(of)}; only lists and objects can be indexed.`, key.range.start);
    if (lists.length === 0 || lists.length < alternatives(of).length) return unknown;
    if (alternatives(index).every(({ kind }) => ['string', 'bool', 'null', 'list', 'object'].includes(kind)) && !isNever(index))
      this.say(`A list is indexed by numbers from 0, not by ${described(index)}.`, key.range.start);
    return unionOf(lists.map(({ item }) => item));
  }

  private logic(node: Node<'?:' | '&&' | '||'>): Type {
    if (node.op === '?:') {
      const [condition, one, other] = node.args;
      this.condition(condition, 'The condition before "?"');
      return unionOf([this.of(one), this.of(other)]);
    }
    for (const operand of node.args) this.condition(operand, `Each side of "${node.op}"`);
    return bool;
  }

  private condition(node: ASTNode, what: string): void {
    const type = this.of(node);
    if (!isNever(type) && !alternatives(type).some(({ kind }) => ['bool', 'unknown', 'cel'].includes(kind)))
      this.say(`${what} must be true or false, not ${described(type)}.`, node.range.start);
  }

  private call(node: Node<'call'>): Type {
    const [name, args] = node.args;
    const [only] = args;
    if (name === 'has' && only?.op === '.') {
      const [holder, field] = only.args;
      this.field(only, this.of(holder), field, true);
      return bool;
    }
    const types = args.map((argument) => this.of(argument));
    if (name === 'orElse') return unionOf([present(types[0] ?? unknown), types[1] ?? unknown]);
    const result = yielded((...operands) => `${name}(${operands.join(', ')})`, types);
    if (result && ofNumbers.has(name)) checkNumbers(name, types[0] ?? unknown, node, this.say);
    if (result || types.every(({ kind }) => kind === 'unknown')) return result ?? unknown;
    this.say(`${name}() cannot take ${types.map(described).join(' and ')}.`, node.range.start);
    return unknown;
  }

  private method(node: Node<'rcall'>): Type {
    const [name, receiver, args] = node.args;
    const of = this.of(receiver);
    if (comprehensions.has(name)) return this.comprehension(name, receiver, of, args);
    const types = args.map((argument) => this.of(argument));
    if (of.kind === 'optional' && name === 'orValue') return unionOf([of.of, types[0] ?? unknown]);
    const form = (self: string, ...operands: string[]) => `${self}.${name}(${operands.join(', ')})`;
    const result = yielded(form, [of, ...types]);
    if (result || of.kind === 'unknown' || of.kind === 'optional') return result ?? unknown;
    const hasOne = yielded(form, [of, ...types.map(() => unknown)]) !== undefined;
    const position = node.input.indexOf(name, receiver.range.end);
    this.say(
      hasOne ? `${name}() cannot take ${types.map(described).join(' and ')}.` : `${capital(described(of))} has no ${name}().`,
      position,
    );
    return unknown;
  }

  private comprehension(name: string, receiver: ASTNode, of: Type, [entry, ...bodies]: readonly ASTNode[]): Type {
    const items = alternatives(of).flatMap((each) => {
      if (each.kind === 'list') return each.item;
      if (each.kind === 'object') return text;
      return each.kind === 'unknown' || each.kind === 'optional' || each.kind === 'cel' ? unknown : [];
    });
    if (items.length === 0 && !isNever(of)) {
      this.say(`${name}() needs a list, not ${described(of)}.`, receiver.range.start);
      items.push(unknown);
    }
    const variable = entry?.op === 'id' ? entry.args : '';
    const shadowed = this.entryTypes.get(variable);
    this.entryTypes.set(variable, unionOf(items));
    const result = this.ofEach(name, of, bodies);
    if (shadowed) this.entryTypes.set(variable, shadowed);
    else this.entryTypes.delete(variable);
    return result;
  }

  private ofEach(name: string, of: Type, bodies: readonly ASTNode[]): Type {
    const [last] = bodies.slice(-1);
    const conditions = name === 'map' ? bodies.slice(0, -1) : bodies;
    for (const condition of conditions) this.condition(condition, `The condition of ${name}()`);
    if (name === 'map') return { kind: 'list', item: last ? this.of(last) : unknown };
    return name === 'filter' ? (of.kind === 'list' ? of : unknown) : bool;
  }

  private membership({ args: [sought, place], range }: Node<'in'>): Type {
    const of = this.of(sought);
    const type = this.of(place);
    if (place.op === 'list') for (const entry of place.args) compare(sought, of, entry, this.of(entry), this.say);
    else if (type.kind === 'list') compare(sought, of, place, type.item, this.say);
    else if (type.kind === 'object' && sought.op === 'value' && typeof sought.args === 'string') this.fieldSought(type, place, sought);
    else if (!yielded((one, other) => `${one} in ${other}`, [of, type]))
      this.say(`"in" needs a list or an object, not ${described(type)}.`, range.start);
    return bool;
  }

  private fieldSought(of: ObjectType, place: ASTNode, { args: name, range }: Node<'value'>): void {
    const sought = { of, holder: () => pathOf(place), name: String(name), position: range.start, isTested: () => true };
    typeOfField(sought, (...words) => this.say(...words));
  }
}

const present = (type: Type): Type => {
  const value = type.kind === 'optional' ? type.of : type;
  return unionOf(alternatives(value).filter((each) => each.kind !== nothing.kind));
};
