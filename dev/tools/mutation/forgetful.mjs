/**
 * The memory of the core's modules between calls. A mutant must not find data of another one, so the modules get these
 * classes in place of their namesakes, and `forget` restores their contents: caches (parsed texts, prepared programs) as
 * after the loading of the core, registries as after the registrations of apps.
 */
const maps = [];
let loading = true;

const mapOf = (kind) =>
  class extends Map {
    constructor(entries) {
      super(entries);
      if (loading) maps.push({ kind, map: this, entries: [] });
    }
  };

class ForgetfulWeakMap {
  #inner = new WeakMap();
  constructor() {
    if (loading) maps.push({ kind: 'memory', map: this, entries: [] });
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

globalThis.forgetful = {
  memory: { Map: mapOf('memory'), WeakMap: ForgetfulWeakMap },
  registry: { Map: mapOf('registry') },
};

const registries = /\/(functions|custom)\.ts$/;

/** The first lines of every module of the core. */
export const prologueOf = (url) =>
  registries.test(url) ? 'const { Map } = globalThis.forgetful.registry; ' : 'const { Map, WeakMap } = globalThis.forgetful.memory; ';

const note = (wanted) => {
  for (const each of maps) if (each.kind === wanted && each.map instanceof Map) each.entries = [...each.map];
};
export const coreLoaded = () => {
  loading = false;
  note('memory');
};
export const testsLoaded = () => note('registry');

export const forget = () => {
  for (const { map, entries } of maps) {
    map.clear();
    for (const [key, value] of entries) map.set(key, value);
  }
};
