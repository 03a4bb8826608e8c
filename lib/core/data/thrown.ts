/** Names of errors in the code itself. They are compared by name, because a test runner may have error classes of its own. */
const programmingErrors: ReadonlySet<string> = new Set([
  'TypeError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'EvalError',
  'URIError',
  'AssertionError',
  'ZodError',
]);

/** Messages of the cause when `fetch` rejects a URL that it can never request. */
const unusableUrl: ReadonlySet<string> = new Set(['unknown scheme', 'bad port']);

/** Whether an error is one of the code itself. `fetch` and the SDK also throw `TypeError`, but with a cause or the response. */
export const isProgrammingError = (error: unknown): boolean =>
  chainOf(error).every((each, depth) => isOfCode(each) || (depth > 0 && isError(each) && unusableUrl.has(each.message)));

const isOfCode = (error: unknown): boolean =>
  isError(error) && programmingErrors.has(error.name) && !('$metadata' in error || '$response' in error);

/** The errors that an operation throws on purpose. Their names say nothing that the fault does not say. */
const plainNames: ReadonlySet<string> = new Set([
  'Error',
  'TransientFailure',
  'PermanentFailure',
  'UnprocessableMessage',
  'AggregateError',
]);

/** The most characters of a reason. A fault's message has at most 1,024, and often a sentence around the reason. */
const reasonMax = 940;
/** The most errors of a chain that are read: the error itself and its causes. */
const causesMax = 5;
const lastWord = /\[?[^\s"'{}[\](),;:&=<>]*$/;

/** Returns what was thrown, in one text for people: name, message and causes. It may quote secrets. */
export function reasonOf(error: unknown): string {
  const texts = chainOf(error).map(textOf);
  // A message often repeats the cause that it wraps.
  const told = texts.filter((text, index) => text !== '' && texts.findIndex((other) => other.includes(text)) === index);
  const reason = told.join(': ') || 'It threw an error without a message.';
  // A part of a secret would not be recognized as one, so the cut text ends before its last word.
  return reason.length > reasonMax ? `${reason.slice(0, reasonMax).replace(lastWord, '')}…` : reason;
}

/** Returns an error and its causes, outermost first. */
export function chainOf(error: unknown): readonly unknown[] {
  const chain = [error];
  for (let last = error; isError(last) && last.cause !== undefined && chain.length < causesMax; last = last.cause) chain.push(last.cause);
  return chain;
}

/** Returns the name and the message of one error, without its causes. */
function textOf(error: unknown): string {
  if (!isError(error)) return typeof error === 'object' ? Object.prototype.toString.call(error) : String(error);
  const { name, message } = error;
  const said = message || partsOf(error);
  const isPlain = plainNames.has(name) || (programmingErrors.has(name) && !isProgrammingError(error));
  return isPlain ? said : said === '' ? name : `${name}: ${said}`;
}

/** Returns the inner messages of an error that has no message of its own: a connection to several addresses fails once for each. */
function partsOf(error: Thrown): string {
  const { errors, code } = error as { readonly errors?: unknown; readonly code?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return [...new Set(errors.map(textOf))].join(', ');
  return typeof code === 'string' ? code : '';
}

interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly cause?: unknown;
  readonly stack?: string;
}

export const isError = (value: unknown): value is Thrown =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Thrown>).name === 'string' &&
  typeof (value as Partial<Thrown>).message === 'string';

/** Returns a reason in a form for comparison. Words with digits, such as ids and times, become `0`: they differ from order to order. */
export const comparable = (reason: string): string => reason.replaceAll(/[\w-]*\d[\w-]*/g, '0');
