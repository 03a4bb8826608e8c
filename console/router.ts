import { signal } from '@preact/signals';

/*
 * The address of a view is in the fragment: `/#/orders?state=Error`. The paths of this origin belong to the HTTP API, and a fragment
 * never reaches a log of the server.
 */

/** The view that the address names. */
export interface Place {
  readonly path: string;
  /** The parts of the path, decoded: `['orders', 'ord_1']`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#/, '').split('?');
  const parts = path.split('/').filter((part) => part !== '');
  return { path: path === '' ? '/' : path, parts: parts.map(decoded), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const place = signal<Place>(read());
addEventListener('hashchange', () => {
  place.value = read();
});

type Query = { readonly [name: string]: string | undefined };

/** Returns the link to a view. Empty values are left out. */
export function href(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '');
  const text = new URLSearchParams(given).toString();
  return `#${path}${text === '' ? '' : `?${text}`}`;
}

export const go = (path: string, query?: Query): void => {
  location.hash = href(path, query);
};

/** Changes values of the query without a new entry in the history of the browser. */
export function setQuery(changes: Query): void {
  const query = { ...Object.fromEntries(place.peek().query), ...changes };
  history.replaceState(null, '', href(place.peek().path, query));
  place.value = read();
}

/** The value of one name of the query, or an empty text. */
export const queried = (name: string): string => place.value.query.get(name) ?? '';

export const orderLink = (orderId: string, query?: Query): string => href(`/orders/${encodeURIComponent(orderId)}`, query);
