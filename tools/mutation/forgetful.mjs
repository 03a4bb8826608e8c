/**
 * What modules of the core remember from call to call (parsed texts, prepared programs). One mutant must not find what
 * another one left, so the modules get these classes in place of their namesakes, and `forget` takes everything back to
 * what it was when the modules had been loaded.
 */
const remembered = [];
let loading = true;

class ForgetfulMap extends Map {
  constructor(entries) {
    super(entries);
    if (loading) remembered.push(this);
  }
}

class ForgetfulWeakMap {
  #inner = new WeakMap();
  constructor() {
    if (loading) remembered.push(this);
  }
  get = (key) => this.#inner.get(key);
  has = (key) => this.#inner.has(key);
  delete = (key) => this.#inner.delete(key);
  set(key, value) {
    this.#inner.set(key, value);
    return this;
  }
  clear() {
    this.#inner = new WeakMap();
  }
}

globalThis.forgetful = { Map: ForgetfulMap, WeakMap: ForgetfulWeakMap };
export const prologue = 'const { Map, WeakMap } = globalThis.forgetful; ';

let atFirst = [];
export const loaded = () => {
  loading = false;
  atFirst = remembered.map((each) => [each, each instanceof Map ? [...each] : []]);
};

export const forget = () => {
  for (const [each, entries] of atFirst) {
    each.clear();
    for (const [key, value] of entries) each.set(key, value);
  }
};
