import { isObject } from '#core/data/json';

declare const value: unique symbol;

/** A CEL expression that yields a T. The definition holds it as `{"$cel": "…"}`. */
export interface Expr<out T> {
  readonly [value]: T;
}

/** An expression whose fields are expressions too: `order.address.city`. */
export type Ref<T> = Expr<T> &
  (T extends readonly unknown[] ? unknown : T extends object ? { readonly [K in keyof T]-?: Ref<T[K]> } : unknown);

/** The input type for a T: a literal, an expression, or a mixture of both. */
export type In<T> =
  | Expr<T>
  | (T extends readonly (infer U)[] ? readonly In<U>[] : T extends object ? { readonly [K in keyof T]: In<T[K]> } : T);

/** The type that a value has after evaluation: the inverse of `In`. */
export type ValueOf<V> =
  V extends Expr<infer T>
    ? T
    : V extends readonly (infer U)[]
      ? ValueOf<U>[]
      : V extends object
        ? { -readonly [K in keyof V]: ValueOf<V[K]> }
        : V;

const source = Symbol('cel');
const relation = Symbol('comparison or negation');

/** Creates a path that records itself: reading a field returns the path of that field. */
export const expression = <T>(text: string, isRelation = false): Ref<T> =>
  new Proxy(
    {},
    {
      get(_, key) {
        if (key === source) return text;
        if (key === relation) return isRelation;
        if (key === 'toJSON') return () => ({ $cel: text });
        if (key === Symbol.toPrimitive) return () => refuseValue(text);
        if (key === Symbol.iterator) return () => refuseEntries(text);
        if (typeof key === 'symbol') return undefined;
        return expression(fieldOf(text, key));
      },
    },
  ) as Ref<T>;

/** Throws if JavaScript converts an expression to a primitive, as it does with operands of operators and holes of template literals. */
function refuseValue(text: string): never {
  throw new TypeError(
    `${text} is a path, not a value: it has no value while the workflow is defined. Write a condition or a calculation as cel\`\${${text}} > 5\`, and a text as text\`… \${${text}}\`.`,
  );
}

/** Throws if JavaScript iterates over an expression, as it does in `for … of` and in a spread. */
function refuseEntries(text: string): never {
  throw new TypeError(
    `${text} stands for a value that exists when an order runs, so it has no entries here. Run an activity for each entry with forEach(${text}, (item) => …), or read one entry as cel\`\${${text}}[0]\`.`,
  );
}

/** Returns the path of a field. Names that mean something else in CEL are quoted: `steps["ship-eu"]`, `order["in"]`. */
export const fieldOf = (path: string, name: string): string =>
  /^(?!(?:in|true|false|null)$)[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;

/** Returns the CEL text of an expression. */
export const celOf = (hole: unknown): string => {
  const text = isObject(hole) ? (hole as { readonly [source]?: string })[source] : undefined;
  if (text === undefined)
    throw new TypeError(
      `Expected an expression (a path such as order.total, or cel\`…\`), got ${String(JSON.stringify(hole))}.${
        typeof hole === 'boolean' ? ' JavaScript compares paths when the workflow is defined: write equals(order.kind, "gift").' : ''
      }`,
    );
  return text;
};

/** Returns the CEL text of an operand, in parentheses unless it is a path. */
export const operand = (hole: unknown): string => {
  const text = celOf(hole);
  return /^[\w.]+$/.test(text) ? text : `(${text})`;
};

/** Returns an operand of `&&` and `||`, which bind weaker than comparisons and `!`. */
export const conjunct = (hole: Expr<boolean>): string =>
  (hole as { readonly [relation]?: boolean })[relation] ? celOf(hole) : operand(hole);

/** Returns the CEL text of a literal. */
export const literalOf = (value: unknown): string => {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`Expected a finite number, got ${value}.`);
  return JSON.stringify(value);
};

/** Returns the parts of a template. @throws TypeError if the tag is called like a function, with a value in parentheses. */
function templateParts(tag: string, parts: TemplateStringsArray): readonly string[] {
  if (Array.isArray(parts)) return parts;
  throw new TypeError(`${tag} is the tag of a template: write ${tag}\`…\`, without parentheses.`);
}

/** Creates a CEL expression with typed holes: cel<boolean>`${order.total} > 100.0`. */
export const cel = <T>(parts: TemplateStringsArray, ...holes: readonly Expr<unknown>[]): Expr<T> =>
  expression(templateParts('cel', parts).reduce((text, part, index) => text + operand(holes[index - 1]) + part));

/** Creates a text with typed holes: text`Order ${orderId} is on its way.` */
export const text = (parts: TemplateStringsArray, ...holes: readonly Expr<string | number>[]): Expr<string> => {
  const pieces = templateParts('text', parts).flatMap((part, index) => [
    ...(part === '' ? [] : [JSON.stringify(part)]),
    ...(index < holes.length ? [`string(${celOf(holes[index])})`] : []),
  ]);
  return expression(pieces.length === 0 ? '""' : pieces.join(' + '));
};

/** Creates the sum over a list. The function runs once, when the workflow is defined, and records CEL. */
export const sum = <T>(list: Expr<readonly T[]>, of: (item: Ref<T>) => Expr<number>): Expr<number> =>
  expression(`sum(${operand(list)}.map(item, ${celOf(of(expression('item')))}))`);

/** Reads a path, or returns a default if the field is missing or the step has not run. */
export const orElse = <T>(path: Expr<T>, otherwise: NonNullable<NoInfer<T>> | Expr<NonNullable<NoInfer<T>>>): Expr<NonNullable<T>> => {
  const [, root, fields] = /^(\w+)((?:\.\w+|\["(?:[^"\\]|\\.)*"\])+)$/.exec(celOf(path)) ?? [];
  if (root === undefined || fields === undefined) throw new TypeError(`Expected a path such as order.note, got ${celOf(path)}.`);
  const optional = fields.replaceAll(/\.(\w+)|\[("(?:[^"\\]|\\.)*")\]/g, (_, name, quoted) => (name ? `.?${name}` : `[?${quoted}]`));
  return expression<NonNullable<T>>(`orElse(${root}${optional}, ${isExpression(otherwise) ? celOf(otherwise) : literalOf(otherwise)})`);
};

export const isExpression = (value: unknown): value is Expr<unknown> =>
  isObject(value) && typeof (value as { [source]?: string })[source] === 'string';
