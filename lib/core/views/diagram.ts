import { behaviorOf } from '#core/activities/index';
import { workflowsAgent } from '#core/data/child-order';
import { shortType } from '#core/data/fault';
import { type Activity, isRemote, type RemoteActivity, rootPath, type WorkflowDefinition } from '#core/definition/definition';
import type { Drawing, DrawnEdge, DrawnFrame, DrawnItem, NodeKind } from './drawing.ts';
import { frameOf, leafOf } from './drawing-titles.ts';
import { templateText } from './template-text.ts';

export function drawingOf({ name, version, root }: WorkflowDefinition): Drawing {
  const drafting = new Drafting();
  const begin = drafting.node('begin', `${name}@${version}`);
  const { entries, exits } = drafting.activity(root, rootPath);
  const end = drafting.node('end', 'end');
  drafting.connect([{ id: begin }], entries);
  drafting.connect(entries.length === 0 ? [{ id: begin }] : exits, [end]);
  return { name, version, items: drafting.items };
}

/** A way out of a part, with its condition. */
interface Exit {
  readonly id: string;
  readonly label?: string;
}

/** The entries and exits of a part of the drawing. A part without exits has no successor; a part without entries is empty. */
interface Part {
  readonly entries: readonly string[];
  readonly exits: readonly Exit[];
}

const nothing: Part = { entries: [], exits: [] };

class Drafting {
  items: DrawnItem[] = [];
  private count = 0;

  node(kind: NodeKind, title: string, { detail, path }: { readonly detail?: string; readonly path?: string } = {}): string {
    const id = `n${++this.count}`;
    this.items.push({
      item: 'node',
      id,
      kind,
      title,
      ...(detail === undefined ? {} : { detail }),
      ...(path === undefined ? {} : { path }),
    });
    return id;
  }

  /** Connects two parts. Several exits, or one with a label, meet several entries in a join node, so that not every pair needs an arrow. */
  connect(from: readonly Exit[], to: readonly string[]): void {
    if (to.length > 1 && (from.length > 1 || from.some(({ label }) => label !== undefined))) {
      const join = this.node('join', '');
      this.connect(from, [join]);
      return this.connect([{ id: join }], to);
    }
    for (const { id, label } of from) for (const end of to) this.edge('flow', id, end, label);
  }

  private edge(kind: DrawnEdge['kind'], from: string, to: string, label?: string): void {
    this.items.push({ item: 'edge', kind, from, to, ...(label === undefined ? {} : { label }) });
  }

  /** Draws an activity. A composite with handlers gets a frame, from which its faults leave. */
  activity(activity: Activity, path: string): Part {
    const { faultHandlers = [] } = activity;
    const frame =
      frameOf(activity) ??
      (faultHandlers.length > 0 || (activity.undo && !isRemote(activity)) ? ({ kind: 'scope', title: activity.name } as const) : undefined);
    if (!frame) return this.body(activity, path);

    const { id, part } = this.framed({ ...frame, path }, () => this.body(activity, path));
    this.undoOf(id, activity.undo, path);
    const handled = faultHandlers.map(({ fault, do: handler }) => {
      const { entries, exits } = this.orNothing(this.activity(handler, `${path}/${handler.name}`));
      for (const entry of entries) this.edge('fault', id, entry, shortType(fault));
      return exits;
    });
    return { entries: part.entries, exits: [...part.exits, ...handled.flat()] };
  }

  private body(activity: Activity, path: string): Part {
    switch (activity.activity) {
      case 'step':
      case 'call':
        return this.step(activity, path);
      case 'sequence':
        return this.sequence(activity.children, path);
      case 'choice':
        return this.choice(activity, path);
      default:
        return behaviorOf(activity.activity).children(activity).length > 0 ? this.sideBySide(activity, path) : this.leaf(activity, path);
    }
  }

  private sideBySide(activity: Activity, path: string): Part {
    const parts = behaviorOf(activity.activity)
      .children(activity)
      .map((child) => this.activity(child, `${path}/${child.name}`));
    return { entries: parts.flatMap(({ entries }) => entries), exits: parts.flatMap(({ exits }) => exits) };
  }

  private step({ activity, name, agent, operation, undo }: RemoteActivity, path: string): Part {
    const id = this.node('step', name, { detail: activity === 'call' ? `calls ${operation}` : `${agent}.${operation}`, path });
    this.undoOf(id, undo, path);
    return { entries: [id], exits: [{ id }] };
  }

  private undoOf(id: string, undo: Activity['undo'], path: string): void {
    if (!undo) return;
    const what = undo.agent === workflowsAgent ? 'undoes that order' : `${undo.agent}.${undo.operation}`;
    this.edge('undo', id, this.node('undo', what, { path }), 'undo');
  }

  private sequence(children: readonly Activity[], path: string): Part {
    const [first, ...rest] = children
      .map((child) => this.activity(child, `${path}/${child.name}`))
      .filter(({ entries }) => entries.length > 0);
    if (!first) return nothing;
    let { exits } = first;
    for (const next of rest) {
      this.connect(exits, next.entries);
      ({ exits } = next);
    }
    return { entries: first.entries, exits };
  }

  private choice({ name, branches, otherwise }: Extract<Activity, { activity: 'choice' }>, path: string): Part {
    const id = this.node('choice', name, { path });
    const ways = [
      ...branches.map((branch) => ({ label: templateText(branch.when), do: branch.do })),
      ...(otherwise ? [{ label: 'otherwise', do: otherwise }] : []),
    ];
    const exits = ways.flatMap((way): readonly Exit[] => {
      const part = this.activity(way.do, `${path}/${way.do.name}`);
      this.connect([{ id, label: way.label }], part.entries);
      return part.entries.length === 0 ? [{ id, label: way.label }] : part.exits;
    });
    return { entries: [id], exits: otherwise ? exits : [...exits, { id, label: 'otherwise' }] };
  }

  private leaf(activity: Activity, path: string): Part {
    const { kind, title, detail } = leafOf(activity);
    const id = this.node(kind, title, { ...(detail === undefined ? {} : { detail }), path });
    return { entries: [id], exits: kind === 'raise' || kind === 'terminate' ? [] : [{ id }] };
  }

  private orNothing(part: Part): Part {
    if (part.entries.length > 0) return part;
    const id = this.node('other', 'nothing to do');
    return { entries: [id], exits: [{ id }] };
  }

  /** Draws a frame. All its flows leave from one node inside it: everything before that node ends before the order leaves the frame. */
  private framed(frame: Pick<DrawnFrame, 'kind' | 'title' | 'path'>, inside: () => Part): { readonly id: string; readonly part: Part } {
    const id = `f${++this.count}`;
    const around = this.items;
    this.items = [];
    const part = this.orNothing(inside());
    const [only, ...others] = part.exits;
    const isOne = only === undefined || (others.length === 0 && only.label === undefined);
    const exits = isOne ? part.exits : [{ id: this.node('join', '') }];
    if (!isOne) this.connect(part.exits, [exits[0]?.id ?? '']);
    around.push({ item: 'frame', id, ...frame, items: this.items });
    this.items = around;
    return { id, part: { entries: part.entries, exits } };
  }
}
