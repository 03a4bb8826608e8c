import type { Activity, Template, WorkflowDefinition } from './definition.ts';
import { shortType } from './fault.ts';
import { expressionsIn } from './program.ts';

/** A workflow as a Mermaid flowchart: what follows what, what undoes what, and which fault goes where. */
export function mermaidOf({ name, version, root }: WorkflowDefinition): string {
  const drawing = new Drawing();
  const begin = drawing.node('([', `${name}@${version}`, '])');
  const { entries, exits } = drawing.activity(root);
  const end = drawing.node('([', 'end', '])');
  drawing.connect([begin], entries);
  drawing.connect(entries.length === 0 ? [begin] : exits, [end]);
  return drawing.text();
}

/** Where a part of the chart begins and ends. Nothing follows what has no exit; what has no entry is not there at all. */
interface Part {
  readonly entries: readonly string[];
  readonly exits: readonly string[];
}

class Drawing {
  private readonly lines: string[] = [];
  private count = 0;
  private depth = 1;

  text(): string {
    return `flowchart TD\n${this.lines.map((line) => `${line}\n`).join('')}`;
  }

  node(open: string, label: string, close: string): string {
    const id = `n${++this.count}`;
    this.line(`${id}${open}"${escaped(label)}"${close}`);
    return id;
  }

  connect(from: readonly string[], to: readonly string[], label?: string): void {
    const arrow = label === undefined ? '-->' : `-->|"${escaped(label)}"|`;
    for (const start of from) for (const end of to) this.line(`${start} ${arrow} ${end}`);
  }

  /** A composite with handlers gets a frame, from which its faults leave. */
  activity(activity: Activity): Part {
    const { faultHandlers = [] } = activity;
    if (faultHandlers.length === 0) return this.body(activity);

    const { id, part } = this.frame(activity.name, () => this.body(activity));
    const handled = faultHandlers.map(({ fault, do: handler }) => {
      const { entries, exits } = this.activity(handler);
      for (const entry of entries) this.line(`${id} -.->|"${escaped(shortType(fault))}"| ${entry}`);
      return entries.length === 0 ? [id] : exits;
    });
    return { entries: part.entries, exits: [...part.exits, ...handled.flat()] };
  }

  private body(activity: Activity): Part {
    switch (activity.activity) {
      case 'step':
        return this.step(activity);
      case 'sequence':
        return this.sequence(activity.children);
      case 'parallel': {
        const parts = activity.children.map((child) => this.activity(child));
        return { entries: parts.flatMap(({ entries }) => entries), exits: parts.flatMap(({ exits }) => exits) };
      }
      case 'choice':
        return this.choice(activity);
      case 'scope':
        return this.frame(activity.name, () => this.activity(activity.do)).part;
      case 'retry':
        return this.frame(`again ${activity.count} times at most, every ${activity.interval} s`, () => this.activity(activity.do)).part;
      case 'forEach':
        return this.frame(`for each of ${templateText(activity.list)}`, () => this.activity(activity.do)).part;
      case 'while':
        return this.frame(`while ${templateText(activity.condition)}`, () => this.activity(activity.do)).part;
      default:
        return this.leaf(activity);
    }
  }

  private step({ name, agent, operation, undo }: Extract<Activity, { activity: 'step' }>): Part {
    const id = this.node('[', `${name}\n${agent}.${operation}`, ']');
    if (undo) this.line(`${id} -.-|"undo"| ${this.node('(', `${undo.agent}.${undo.operation}`, ')')}`);
    return { entries: [id], exits: [id] };
  }

  private sequence(children: readonly Activity[]): Part {
    const [first, ...rest] = children.map((child) => this.activity(child)).filter(({ entries }) => entries.length > 0);
    if (!first) return { entries: [], exits: [] };
    let { exits } = first;
    for (const next of rest) {
      this.connect(exits, next.entries);
      ({ exits } = next);
    }
    return { entries: first.entries, exits };
  }

  private choice({ name, branches, otherwise }: Extract<Activity, { activity: 'choice' }>): Part {
    const id = this.node('{', name, '}');
    const ways = [
      ...branches.map((branch) => ({ label: templateText(branch.when), do: branch.do })),
      ...(otherwise ? [{ label: 'otherwise', do: otherwise }] : []),
    ];
    const exits = ways.flatMap((way) => {
      const part = this.activity(way.do);
      this.connect([id], part.entries, way.label);
      return part.entries.length === 0 ? [id] : part.exits;
    });
    return { entries: [id], exits: [...new Set(otherwise ? exits : [...exits, id])] };
  }

  private leaf(activity: Activity): Part {
    const id = this.node('(', leafText(activity), ')');
    return { entries: [id], exits: activity.activity === 'raise' || activity.activity === 'terminate' ? [] : [id] };
  }

  private frame(title: string, inside: () => Part): { readonly id: string; readonly part: Part } {
    const id = `f${++this.count}`;
    this.line(`subgraph ${id} ["${escaped(title)}"]`);
    this.depth += 1;
    const part = inside();
    this.depth -= 1;
    this.line('end');
    return { id, part };
  }

  private line(text: string): void {
    this.lines.push(`${'  '.repeat(this.depth)}${text}`);
  }
}

function leafText(activity: Activity): string {
  switch (activity.activity) {
    case 'delay':
      return `wait ${templateText(activity.seconds)} s`;
    case 'raise':
      return `raise ${shortType(activity.fault)}`;
    case 'compensate':
      return activity.scope === undefined ? 'undo what was done' : `undo ${activity.scope}`;
    case 'assign':
      return `${activity.variable} = ${templateText(activity.value)}`;
    default:
      return activity.name;
  }
}

/** An expression as it was written; anything else as JSON. */
function templateText(template: Template): string {
  const [whole] = expressionsIn(template);
  return whole?.pointer === '' ? whole.text : JSON.stringify(template);
}

const escaped = (text: string): string =>
  text.replaceAll(/[#"<>`]/g, (character) => `#${character.charCodeAt(0)};`).replaceAll('\n', '<br/>');
