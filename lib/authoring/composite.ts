import type { Json } from '#core/data/json';
import { type Activity, type FaultsOf, record, recordedIn, type Shape } from './activity.ts';
import { compensate, rethrow } from './basic-activities.ts';
import { expectFunction } from './definition-error.ts';
import { expression, fieldOf, type Ref } from './expression.ts';
import type { FaultType } from './fault.ts';
import { withPlace } from './origin.ts';
import type { StepActivity } from './step.ts';

/** The faults of F that are P or extend it. Every fault extends the root, `AnyFault`. */
type Within<F extends string, P extends string> = P extends '*' ? F : Extract<F, P | `${P}/${string}`>;

/** Accepts a fault that F contains. Any activity can raise the engine's own faults. */
type Raised<F extends string, P extends string> = P extends '*' | 'Engine' | `Engine/${string}`
  ? unknown
  : [Within<F, P>] extends [never]
    ? { 'nothing in here raises this fault, or an earlier handler takes it': P }
    : unknown;

/** A fault as its handler reads it. */
export interface CaughtFault {
  /** The last part of the fault's type: `CardDeclined`. */
  readonly type: string;
  readonly message: string;
  /** Path of the activity that raised it: `order/charge`. */
  readonly source: string;
  readonly data: Json;
}

/** The argument of a fault handler. */
export interface Caught<C extends string = string> {
  readonly fault: Ref<CaughtFault>;
  /** Undoes what was completed inside the composite of this handler, newest first. */
  compensate(): Activity<never>;
  /** Raises the same fault for outer handlers, with its type, class, data and source unchanged. */
  rethrow(): Activity<C>;
}

/** A composite whose last handler takes `AnyFault`, so that no fault is left for further handlers. */
export interface Handled<out F extends string> extends Activity<F> {
  /** Names the step that undoes this composite as a whole: see `Composite`. */
  undo(step: StepActivity<string, unknown>): Handled<F>;
}

/** An activity with children. It may handle their faults. */
export interface Composite<out F extends string> extends Activity<F> {
  /**
   * Handles a fault and all faults that extend it. Running children are canceled, the handler runs, and the order continues after the
   * composite. Handlers are tried in the order of their declaration, so declare the most specific first.
   */
  on<P extends string, G extends string = never>(
    fault: FaultType<P> & Raised<F, P>,
    handler: (caught: Caught<Within<F, P>>) => Activity<G>,
  ): P extends '*' ? Handled<G> : Composite<Exclude<F, Within<F, P>> | G>;
  /**
   * Names one step that undoes this composite after it has succeeded, in place of the undo of each child. Before it succeeds, its children
   * are undone one by one.
   */
  undo(step: StepActivity<string, unknown>): Composite<F>;
}

export type CompositeOf<Children extends readonly Activity<string>[]> = Composite<FaultsOf<Children[number]>>;

interface Naming {
  /** Whether the author chose the name, or expressions refer to it. Only a name that is not fixed may get a number from `distinct`. */
  readonly fixed?: boolean;
  /** Records the composite again under another name. A `forEach` needs this, because its expressions contain its name. */
  readonly renamed?: (name: string) => Shape;
}

/** Creates an activity with children, which records its handlers and its undo. */
export const composite = <F extends string>(
  recorded: Shape,
  { fixed = false, renamed = (name) => ({ ...recorded, name }) }: Naming = {},
): Composite<F> => {
  const shape = withPlace(recorded);
  return record(shape, fixed, {
    ...(shape['collect'] === undefined ? {} : { output: expression(fieldOf('steps', shape.name)) }),
    named: (name: string) => composite(renamed(name), { fixed: true, renamed }),
    on(fault: FaultType, handler: (caught: Caught<string>) => Activity<string>) {
      expectFunction(handler, '.on(Fault, ({ fault, compensate }) => …)');
      const before = (shape['faultHandlers'] ?? []) as readonly Handler[];
      const faultHandlers = [
        ...before,
        handlerOf(fault, handler({ fault: expression('fault'), compensate: () => compensate(), rethrow: () => rethrow() }), before),
      ];
      return composite({ ...shape, faultHandlers }, { fixed, renamed: (name) => ({ ...renamed(name), faultHandlers }) });
    },
    undo(step: StepActivity<string, unknown>) {
      const undo = { ...recordedIn(step).shape, name: 'undo' };
      return composite({ ...shape, undo }, { fixed, renamed: (name) => ({ ...renamed(name), undo }) });
    },
  }) as Composite<F>;
};

export const isComposite = (activity: Activity<string>): boolean => 'on' in activity;

interface Handler {
  readonly fault: string;
  readonly do: Shape;
}

/**
 * Records a handler. A handler is a sibling of the composite's children, so its name must differ from theirs. That name is cut to the 64
 * characters of an activity's name, because the name of a fault alone may have 64.
 */
function handlerOf({ name, path }: FaultType, body: Activity<string>, before: readonly Handler[]): Handler {
  const { shape, fixed } = recordedIn(body);
  const short = `on-${name}`;
  const fullName = (before.some((handler) => handler.do.name === short) ? `on-${path.replaceAll('/', '-')}` : short).slice(0, 64);
  if (!isComposite(body)) return { fault: path, do: { activity: 'sequence', name: fullName, children: [shape] } };
  return { fault: path, do: fixed ? shape : { ...shape, name: fullName } };
}
